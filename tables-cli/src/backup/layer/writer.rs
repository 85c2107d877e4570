//! Writing a layer.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::backup::layer::{BLOCK, HEAD, Mark, Record};
use crate::failure::{Failure, Result};

/// Writes a layer block by block.
#[derive(Debug)]
pub struct LayerWriter {
    path: PathBuf,
    file: File,
    /// The lines of the block that has not been written yet.
    block: Vec<u8>,
    rows: u64,
    mark: Mark,
}

impl LayerWriter {
    /// Creates a layer, replacing any older file.
    ///
    /// # Errors
    /// `File` if the file cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(Failure::file(path.display()))?;
        Ok(Self { path: path.to_owned(), file, block: Vec::new(), rows: 0, mark: Mark::default() })
    }

    /// Continues a layer at a mark that [`sync`](Self::sync) returned. Everything after the mark is removed.
    ///
    /// # Errors
    /// `Refused` if the file is shorter than the mark; `File` if the file cannot be written.
    pub fn resume(path: &Path, mark: Mark) -> Result<Self> {
        let failed = || Failure::file(path.display());
        let mut file = File::options().write(true).open(path).map_err(failed())?;
        if file.metadata().map_err(failed())?.len() < mark.bytes {
            let help = "delete `working.json` in the backup folder to start the backup again";
            return Err(Failure::Refused(format!("{} is shorter than recorded; {help}", path.display())));
        }
        file.set_len(mark.bytes).map_err(failed())?;
        file.seek(SeekFrom::Start(mark.bytes)).map_err(failed())?;
        Ok(Self { path: path.to_owned(), file, block: Vec::new(), rows: 0, mark })
    }

    /// Adds a row. Keys must be pushed in key order.
    ///
    /// # Errors
    /// `File` if the layer cannot be written.
    pub fn push(&mut self, record: &Record) -> Result<()> {
        let written = match record {
            Record::Put(entity) => {
                self.block.push(b'+');
                serde_json::to_writer(&mut self.block, entity)
            }
            Record::Delete(key) => {
                self.block.push(b'-');
                let keys = [key.partition_key.as_str(), key.row_key.as_str()];
                serde_json::to_writer(&mut self.block, &keys)
            }
        };
        written.map_err(|error| Failure::file(self.path.display())(error.into()))?;
        self.block.push(b'\n');
        self.rows += 1;
        if self.block.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let digest = self.mark.chain(&self.block);
        let head = format!("{HEAD} {} {} {digest}\n", self.rows, self.block.len());
        let written = self.file.write_all(head.as_bytes()).and_then(|()| self.file.write_all(&self.block));
        written.map_err(Failure::file(self.path.display()))?;
        self.mark.advance(head.len(), self.block.len(), self.rows, digest);
        self.rows = 0;
        self.block.clear();
        Ok(())
    }

    /// Makes all rows durable, and returns the mark after them.
    ///
    /// # Errors
    /// `File` if the layer cannot be written.
    pub fn sync(&mut self) -> Result<Mark> {
        self.end_block()?;
        self.file.sync_data().map_err(Failure::file(self.path.display()))?;
        Ok(self.mark.clone())
    }
}
