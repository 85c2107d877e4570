//! Verifies Parquet files written by `tables export`, after they are exported and before they are imported.

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use table_inspect::record::{FileError, Result};

use crate::parquet::reader::ParquetReader;
use crate::transfer::checksum::Checksum;

/// Opens a file for reading. If the footer of the file contains a checksum, first reads all rows and verifies the checksum, so a corrupted file is rejected
/// before any of its rows is used.
///
/// # Errors
/// `Refused` if the file is corrupted, or if [`ParquetReader::new`] rejects it. `Io` if the file cannot be read.
pub fn read(path: &Path) -> Result<ParquetReader> {
    let reader = ParquetReader::new(File::open(path)?)?;
    if reader.recorded().is_none() {
        return Ok(reader);
    }
    verify(File::open(path)?, path.display())?;
    ParquetReader::new(File::open(path)?)
}

/// Reads all rows of a file written by `tables export`, verifies the checksum in the footer, and returns the checksum. `path` is the path that messages show.
///
/// # Errors
/// `Refused` if the file is corrupted or has no checksum. `Io` if the file cannot be read.
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
