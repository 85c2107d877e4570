//! JSON Lines: one entity per line, in the service's JSON format. Type annotations preserve every value.
//!
//! ```
//! use table_core::TableEntity;
//! use table_inspect::lines::{self, LineReader};
//!
//! let ada = TableEntity::new("Sales", "1")?.with("Age", 36);
//! let mut text = Vec::new();
//! lines::write(&mut text, &ada)?;
//! assert_eq!(LineReader::new(text.as_slice()).collect::<Result<Vec<_>, _>>()?, [Ok(ada)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, BufRead, Read, Write};

use table_core::TableEntity;

use crate::record::{FileError, Record, Rejected, Result};

/// The maximum size of one line, in bytes. It limits memory use, and is far larger than any entity.
const LINE: u64 = 16 << 20;

/// Writes one entity as a line.
///
/// # Errors
/// `Io` if the output fails.
pub fn write(out: &mut dyn Write, entity: &TableEntity) -> Result<()> {
    serde_json::to_writer(&mut *out, entity).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// An iterator over the records of a JSON Lines file. Blank lines are skipped.
#[expect(missing_debug_implementations, reason = "contains a reader without `Debug`")]
pub struct LineReader<R: BufRead> {
    input: R,
    line: u64,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader for JSON Lines.
    pub const fn new(input: R) -> Self {
        Self { input, line: 0 }
    }

    /// Returns the line number of the last returned record, counted from 1, or 0 before the first record.
    #[must_use]
    pub const fn line(&self) -> u64 {
        self.line
    }

    /// Skips the rest of a line that is too long, and returns the error for the record.
    fn skip_line(&mut self) -> Result<Record> {
        loop {
            let found = self.input.fill_buf()?;
            let end = found.iter().position(|byte| *byte == b'\n');
            let (length, is_over) =
                (end.map_or(found.len(), |end| end + 1), end.is_some() || found.is_empty());
            self.input.consume(length);
            if is_over {
                let reason = "the line has more than 16 MiB; each line is one entity".to_owned();
                return Ok(Err(Rejected { line: self.line, column: 0, reason }));
            }
        }
    }
}

impl<R: BufRead> Iterator for LineReader<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut text = Vec::new();
            self.line += 1;
            match self.input.by_ref().take(LINE).read_until(b'\n', &mut text) {
                Ok(0) => return None,
                Ok(length) if length as u64 == LINE && text.last() != Some(&b'\n') => {
                    return Some(self.skip_line());
                }
                Ok(_) => {}
                Err(error) => return Some(Err(error.into())),
            }
            if self.line == 1 && (text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff")) {
                let help = "convert it, for example with `iconv -f UTF-16 -t UTF-8`";
                return Some(Err(FileError::Refused(format!("the file is UTF-16, not UTF-8; {help}"))));
            }
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
            if text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let record = serde_json::from_slice::<TableEntity>(text).map_err(|error| {
                let reason = error.to_string();
                let reason = reason.split(" at line ").next().unwrap_or_default().to_owned();
                Rejected { line: self.line, column: error.column(), reason }
            });
            return Some(Ok(record));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_written_and_read_back_with_their_types() {
        let entity = TableEntity::new("p", "1").unwrap().with("Badge", 7_i64).with("Photo", vec![1_u8, 2]);
        let mut bytes = Vec::new();
        write(&mut bytes, &entity).unwrap();
        bytes.extend(b"\n");
        let read: Vec<Record> = LineReader::new(&bytes[..]).collect::<Result<_>>().unwrap();
        assert_eq!(read, [Ok(entity)]);
    }

    #[test]
    fn an_overlong_line_is_rejected_and_lines_are_still_counted() {
        let mut text = "x".repeat(40 << 20);
        text.push_str("\n{\n");
        let read: Vec<Record> = LineReader::new(text.as_bytes()).collect::<Result<_>>().unwrap();
        let rejected: Vec<u64> =
            read.into_iter().filter_map(Result::err).map(|rejected| rejected.line).collect();
        assert_eq!(rejected, [1, 2]);
    }

    #[test]
    fn a_line_that_is_not_an_entity_is_rejected_and_the_next_is_read() {
        let text = "{\"PartitionKey\":\"p\"}\n{\n{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n";
        let read: Vec<Record> = LineReader::new(text.as_bytes()).collect::<Result<_>>().unwrap();
        assert!(
            matches!(&read[0], Err(Rejected { line: 1, .. }))
                && matches!(&read[1], Err(Rejected { line: 2, .. }))
        );
        assert!(read[2].is_ok());
    }
}
