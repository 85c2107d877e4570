//! Appends 4 KiB blocks, and calls `fdatasync` after each one. No single durable writer can be faster than this.

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
    /// The name of this contender as shown in the table of results.
    pub const NAME: &str = "fdatasync of 4 KiB";

    /// Opens a file, creating it if it does not exist.
    pub fn create(path: &Path) -> Outcome<Self> {
        Ok(Self { file: File::options().create(true).append(true).open(path)?, block: vec![0x5A; 4096] })
    }

    /// Appends a 4 KiB block and syncs the file.
    pub fn append(&mut self) -> Outcome<()> {
        self.file.write_all(&self.block)?;
        Ok(self.file.sync_data()?)
    }
}
