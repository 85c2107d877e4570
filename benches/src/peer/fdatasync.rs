//! Appends 4 KiB and calls `fdatasync`: the highest rate that a single durable writer could reach.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::Outcome;

/// A file to which blocks are appended.
#[derive(Debug)]
pub struct Appender {
    file: File,
    block: Vec<u8>,
}

impl Appender {
    /// The name of this contender in the table of results.
    pub const NAME: &str = "fdatasync of 4 KiB";

    /// Creates a file.
    pub fn create(path: &Path) -> Outcome<Self> {
        Ok(Self { file: File::options().create(true).append(true).open(path)?, block: vec![0x5A; 4096] })
    }

    /// Appends a block of 4 KiB, and syncs the file.
    pub fn append(&mut self) -> Outcome<()> {
        self.file.write_all(&self.block)?;
        Ok(self.file.sync_data()?)
    }
}
