//! The rows in a history: their tables, keys and contents. Each is identified by a number. A row contains the number of the operation that wrote it, so each of
//! its bytes can be verified.

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::row::{RowView, RowWriter};
use table_core::{Result, Row, TableName, ValueRef};

use crate::sim::model::{Number, Place};

/// The numbers of tables, partitions and rows in a history, and the format of its keys and rows. All lives of a history share this shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) tables: u8,
    pub(super) partitions: u8,
    pub(super) rows: u16,
    /// The number of padding characters that follow the number in each PartitionKey.
    padding: usize,
    content: Content,
}

/// The kind of properties in the rows of a history. All rows have the same properties, because a merge keeps the stored properties that the new row lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// No filler, some filler, or more filler than fits into a block.
    Mixed,
    /// The number, and at most 40 bytes of filler.
    Small,
    /// The number, and sixty further properties.
    Wide,
    /// Mostly small rows, but one in 32 takes up nearly 1 MiB.
    Huge,
}

/// The size in bytes of the Timestamp at the start of a row's body.
const TIMESTAMP: usize = 8;
/// The maximum size in bytes of one binary property.
const PIECE: usize = 60_000;
/// The number of bytes after which [`Shape::filler`] repeats.
const PERIOD: u32 = 256;
/// The number of binary properties in a row of [`Content::Huge`].
const PIECES: usize = 15;
/// The number of numeric properties in a row of [`Content::Wide`].
const COLUMNS: i64 = 60;

pub(super) fn table(number: u8) -> Result<TableName> {
    TableName::new(&format!("Table{number:02}"))
}

pub(super) fn row_key(number: u16) -> Result<RowKey> {
    RowKey::new(format!("r{number:04}"))
}

/// Returns the position of the row with these keys. Returns `None` if the keys do not belong to a history.
pub(super) fn place(partition_key: &str, row_key: &str) -> Option<Place> {
    let partition = partition_key.trim_end_matches('x').strip_prefix('p')?;
    Some((partition.parse().ok()?, row_key.strip_prefix('r')?.parse().ok()?))
}

/// Returns a journal frame that a caller has forged without knowing the salt of the file (`docs/format.md`). Its sequence number is far ahead. It claims that
/// all earlier frames were durable.
fn forged_frame(number: Number) -> Vec<u8> {
    let record = number.to_le_bytes();
    let sequence = (u64::from(number) + 500).to_le_bytes();
    let length = 4_u32.to_le_bytes();
    let mut frame = [&length[..], &crc32c::crc32c(&record).to_le_bytes(), &sequence, &sequence].concat();
    frame.extend(crc32c::crc32c(&frame).to_le_bytes());
    frame.extend(record);
    frame
}

/// Returns the operation number in a row.
fn number_in(row: RowView<'_>) -> std::result::Result<Number, String> {
    match row.find("Number", &mut 0).map_err(|error| error.to_string())? {
        Some(ValueRef::Int64(number)) => Number::try_from(number).map_err(|error| error.to_string()),
        other => Err(format!("the number of a row is {other:?}")),
    }
}

impl Shape {
    pub(super) fn draw(random: &mut StdRng) -> Self {
        let usual = Self { tables: 2, partitions: 2, rows: 24, padding: 0, content: Content::Mixed };
        match random.random_range(0..12) {
            0..=3 => usual,
            // With this shape, a history has enough rows for many segments and layers.
            4..=6 => Self { rows: 600, content: Content::Small, ..usual },
            7 => Self { rows: 300, ..usual },
            8 => Self {
                rows: 300,
                padding: [100, 500][random.random_range(0..2)],
                content: Content::Small,
                ..usual
            },
            9 => Self { tables: 12, partitions: 1, rows: 40, ..usual },
            10 => Self { rows: 100, content: Content::Wide, ..usual },
            _ => Self { content: Content::Huge, ..usual },
        }
    }

    pub(super) fn partition(self, number: u8) -> Result<PartitionKey> {
        PartitionKey::new(format!("p{number}{}", "x".repeat(self.padding)))
    }

    pub(super) fn key(self, (partition, row): Place) -> Result<EntityKey> {
        Ok(EntityKey { partition_key: self.partition(partition)?, row_key: row_key(row)? })
    }

    /// Returns bytes that depend on a number. Some of them look like a journal frame.
    fn filler(self, number: Number) -> Vec<u8> {
        let mixed = number.wrapping_mul(0x9E37_79B1);
        let pick = (mixed >> 24) as usize;
        let length: usize = match self.content {
            Content::Mixed => [0, 40, 700, 700, 2_000, 5_000][pick % 6],
            Content::Small | Content::Wide => [0, 0, 10, 40][pick % 4],
            Content::Huge => [40, 900_000][usize::from(pick.is_multiple_of(32))],
        };
        let period: Vec<u8> =
            (0..PERIOD).map(|at: u32| (mixed.rotate_left(at % 32) ^ at).to_le_bytes()[0]).collect();
        let mut bytes = period.repeat(length.div_ceil(period.len()));
        bytes.truncate(length);
        if mixed.is_multiple_of(3) && self.content == Content::Mixed {
            bytes.extend(forged_frame(number));
        }
        bytes
    }

    /// Returns the row written by an operation.
    pub(super) fn row(self, number: Number) -> Row {
        let mut row = RowWriter::new();
        row.property("Number", ValueRef::Int64(i64::from(number)));
        let filler = self.filler(number);
        let mut pieces = filler.chunks(PIECE);
        let count = if self.content == Content::Huge { PIECES } else { 1 };
        for piece in 0..count {
            row.property(&format!("Filler{piece}"), ValueRef::Binary(pieces.next().unwrap_or_default()));
        }
        if self.content == Content::Wide {
            for column in 0..COLUMNS {
                row.property(&format!("Column{column}"), ValueRef::Int64(i64::from(number) + column));
            }
        }
        row.finish()
    }

    /// Returns the number of the operation that wrote a row.
    ///
    /// # Errors
    /// A description of the row if no operation wrote it.
    pub(super) fn number(self, row: RowView<'_>) -> std::result::Result<Number, String> {
        let number = number_in(row)?;
        let wanted = self.row(number);
        let ((shape, body), (wanted_shape, wanted_body)) = (row.parts(), wanted.view().parts());
        let is_it = shape == wanted_shape && body.get(TIMESTAMP..) == wanted_body.get(TIMESTAMP..);
        is_it
            .then_some(number)
            .ok_or_else(|| format!("the row of operation {number} differs from what was written"))
    }
}
