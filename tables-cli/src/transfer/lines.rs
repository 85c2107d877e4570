//! JSON lines: one entity per line in the service's form with types, without loss.

use std::io::{BufRead, Write};

use table_core::TableEntity;

use crate::failure::{Failure, Result};
use crate::transfer::source::{Record, Rejected};

/// The maximum number of bytes of one line, far above the largest entity, which bounds memory use.
const LINE: u64 = 16 << 20;

/// Writes one entity as a line.
///
/// # Errors
/// `File` if the output cannot be written.
pub fn write(out: &mut dyn Write, entity: &TableEntity) -> Result<()> {
    serde_json::to_writer(&mut *out, entity).map_err(|error| Failure::file("JSON")(error.into()))?;
    out.write_all(b"\n").map_err(Failure::file("JSON"))
}

/// The records of a file of JSON lines. Blank lines are skipped.
#[expect(missing_debug_implementations, reason = "holds an input or output that has none")]
pub struct LineReader<R: BufRead> {
    input: R,
    line: u64,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader.
    pub const fn new(input: R) -> Self {
        Self { input, line: 0 }
    }
}

impl<R: BufRead> Iterator for LineReader<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut text = Vec::new();
            self.line += 1;
            match std::io::Read::take(&mut self.input, LINE).read_until(b'\n', &mut text) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(Failure::file("JSON")(error))),
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
    fn a_line_that_is_no_entity_is_rejected_and_the_next_is_read() {
        let text = "{\"PartitionKey\":\"p\"}\n{\n{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n";
        let read: Vec<Record> = LineReader::new(text.as_bytes()).collect::<Result<_>>().unwrap();
        assert!(
            matches!(&read[0], Err(Rejected { line: 1, .. }))
                && matches!(&read[1], Err(Rejected { line: 2, .. }))
        );
        assert!(read[2].is_ok());
    }
}
