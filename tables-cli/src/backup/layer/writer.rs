//! Writes layers.

use crate::backup::layer::{BLOCK, HEAD, Mark, Record};
use crate::backup::storage::{Append, Storage};
use crate::failure::{Failure, Result};

/// Writes a layer block by block.
#[derive(Debug)]
pub struct LayerWriter {
    file: Box<dyn Append>,
    /// The lines of the current block, which has not been written yet.
    block: Vec<u8>,
    rows: u64,
    mark: Mark,
}

impl LayerWriter {
    /// Creates a layer. An existing file is replaced.
    ///
    /// # Errors
    /// `File` if the file cannot be created.
    pub fn create(storage: &dyn Storage, name: &str) -> Result<Self> {
        Self::resume(storage, name, Mark::default())
    }

    /// Continues a layer at a mark returned by [`sync`](Self::sync). Removes all bytes after the mark.
    ///
    /// # Errors
    /// `Refused` if the file is shorter than the mark. `File` if the file cannot be written.
    pub fn resume(storage: &dyn Storage, name: &str, mark: Mark) -> Result<Self> {
        let file = storage.append(name, mark.bytes)?;
        Ok(Self { file, block: Vec::new(), rows: 0, mark })
    }

    /// Adds a record. Records must be added in key order.
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
        written.map_err(|error| Failure::file("a row")(error.into()))?;
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
        self.file.write(head.as_bytes())?;
        self.file.write(&self.block)?;
        self.mark.advance(head.len(), self.block.len(), self.rows, digest);
        self.rows = 0;
        self.block.clear();
        Ok(())
    }

    /// Makes all records durable, and returns a mark after the last record.
    ///
    /// # Errors
    /// `File` if the layer cannot be written.
    pub fn sync(&mut self) -> Result<Mark> {
        self.end_block()?;
        self.file.sync()?;
        Ok(self.mark.clone())
    }
}
