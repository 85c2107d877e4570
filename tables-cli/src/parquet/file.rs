//! Verifies Parquet files written by `tables export`: after they are written, and before their rows are imported.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use table_inspect::record::{FileError, Result};

use crate::parquet::reader::ParquetReader;
use crate::transfer::checksum::Checksum;

/// Opens a file for reading. If its footer contains a checksum, all rows are first read and compared with it. A damaged file is therefore rejected before
/// any row is used.
///
/// # Errors
/// `Refused` if the file is damaged, or if [`ParquetReader::new`] rejects it; `Io` if it cannot be read.
pub fn read(path: &Path) -> Result<ParquetReader> {
    let reader = ParquetReader::new(File::open(path)?)?;
    if reader.recorded().is_none() {
        return Ok(reader);
    }
    verify(File::open(path)?, path.display())?;
    ParquetReader::new(File::open(path)?)
}

/// Reads all rows of a file written by `tables export`, compares them with the checksum in the footer, and returns the checksum. `path` names the file in
/// messages.
///
/// # Errors
/// `Refused` if the file is damaged or has no checksum; `Io` if it cannot be read.
pub fn verify(file: File, path: impl Display) -> Result<Checksum> {
    let damage = |fact: &str| FileError::Refused(format!("{path} is damaged: {fact}"));
    let reader = ParquetReader::new(file)?;
    let recorded = reader.recorded().ok_or_else(|| damage("its footer has no checksum"))?;
    let mut checksum = Checksum::default();
    for record in reader {
        checksum.add(&record?.map_err(|rejected| damage(&rejected.to_string()))?);
    }
    if recorded == (checksum.count, checksum.to_string()) {
        Ok(checksum)
    } else {
        Err(damage("the checksum of its rows differs from the recorded one"))
    }
}
