//! Reads layers and verifies every checksum.

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use table_core::EntityKey;

use crate::backup::layer::{HEAD, Mark, Record};
use crate::backup::storage::Storage;
use crate::failure::{Failure, Result};

/// The maximum number of bytes in a block's header line.
const HEAD_BYTES: u64 = 128;
/// The maximum number of bytes in a block. It is far larger than any block the writer produces.
const MOST: usize = 64 << 20;

/// Reads a layer up to a mark. Keeps one block in memory.
pub struct LayerReader {
    path: String,
    file: BufReader<Box<dyn Read + Send>>,
    end: Mark,
    mark: Mark,
    block: Vec<u8>,
    /// The position of the next line in the block.
    at: usize,
}

impl LayerReader {
    /// Opens a layer for reading up to the mark `end`.
    ///
    /// # Errors
    /// `File` if the layer cannot be read.
    pub fn open(storage: &dyn Storage, name: &str, end: Mark) -> Result<Self> {
        let file = BufReader::new(storage.open(name)?);
        let path = format!("{storage}/{name}");
        Ok(Self { path, file, end, mark: Mark::default(), block: Vec::new(), at: 0 })
    }

    /// Returns the next record, or `None` after the last one.
    ///
    /// # Errors
    /// `Refused`, with the file and the position, if a block is corrupted. `File` if the layer cannot be read.
    pub fn next_record(&mut self) -> Result<Option<Record>> {
        if self.at == self.block.len() && !self.next_block()? {
            return Ok(None);
        }
        let rest = self.block.get(self.at..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        self.at += line.len() + 1;
        let record = record(line).ok_or_else(|| self.damage("a line is not a row"))?;
        Ok(Some(record))
    }

    /// Reads and verifies the next block. Returns `false` at the end of the layer.
    fn next_block(&mut self) -> Result<bool> {
        if self.mark.bytes >= self.end.bytes {
            return if self.mark == self.end {
                Ok(false)
            } else {
                Err(self.damage("its end differs from the recorded one"))
            };
        }
        let mut head = Vec::new();
        let read = self.file.by_ref().take(HEAD_BYTES).read_until(b'\n', &mut head);
        read.map_err(Failure::file(&self.path))?;
        let (rows, bytes, digest) =
            head_of(&head).ok_or_else(|| self.damage("the first line of the block cannot be read"))?;
        if bytes > MOST {
            return Err(self.damage("the block is too long"));
        }
        self.block.resize(bytes, 0);
        self.at = 0;
        match self.file.read_exact(&mut self.block) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Err(self.damage("the file ends within the block"));
            }
            read => read.map_err(Failure::file(&self.path))?,
        }
        let lines = self.block.split(|byte| *byte == b'\n').count() as u64 - 1;
        if lines != rows || self.block.last() != Some(&b'\n') || self.mark.chain(&self.block) != digest {
            return Err(self.damage("its checksum does not match its content"));
        }
        self.mark.advance(head.len(), bytes, rows, digest);
        Ok(true)
    }

    fn damage(&self, fact: &str) -> Failure {
        let (path, at) = (&self.path, self.mark.bytes);
        Failure::Refused(format!("{path} is damaged in the block at byte {at}: {fact}"))
    }
}

impl fmt::Debug for LayerReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LayerReader")
            .field("path", &self.path)
            .field("mark", &self.mark)
            .finish_non_exhaustive()
    }
}

fn head_of(line: &[u8]) -> Option<(u64, usize, String)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let mut words = line.split(' ');
    let mut next = || words.next();
    let (head, rows, bytes, digest) = (next()?, next()?, next()?, next()?);
    let is_whole = head == HEAD && next().is_none();
    is_whole.then_some((rows.parse().ok()?, bytes.parse().ok()?, digest.to_owned()))
}

fn record(line: &[u8]) -> Option<Record> {
    let (kind, text) = line.split_first()?;
    match kind {
        b'+' => serde_json::from_slice(text).ok().map(Record::Put),
        b'-' => {
            let [partition_key, row_key]: [String; 2] = serde_json::from_slice(text).ok()?;
            EntityKey::new(partition_key, row_key).ok().map(Record::Delete)
        }
        _ => None,
    }
}
