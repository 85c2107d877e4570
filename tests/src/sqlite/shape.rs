//! The sizes and numbers of keys and rows in each table of the differential test.

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::row::{RowView, RowWriter};
use table_core::{Row, ValueRef};

/// The shape of a table: the sizes and numbers of its keys and rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    number: u8,
    /// The padded length of keys, in characters.
    key: usize,
    /// The size of the filler in each row, in bytes.
    value: usize,
    /// The number of properties in addition to the version and the filler.
    properties: usize,
    /// The number of partitions, and the number of rows per partition.
    partitions: u32,
    rows: u64,
}

/// The kind of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Insert,
    Replace,
    Upsert,
    Delete,
}

impl Kind {
    pub(super) fn draw(random: &mut StdRng, deletes: bool) -> Self {
        match random.random_range(0..10) {
            _ if deletes && random.random_ratio(9, 10) => Self::Delete,
            0..=3 => Self::Insert,
            4..=5 => Self::Replace,
            6..=7 => Self::Upsert,
            _ => Self::Delete,
        }
    }

    /// Returns this kind of write, or a different one that succeeds. `there` is `true` if the row exists. If `deletes` is `true`, an existing row is deleted.
    pub(super) fn fitting(self, there: bool, deletes: bool) -> Self {
        match (self, there) {
            (_, true) if deletes => Self::Delete,
            (Self::Insert, true) => Self::Replace,
            (Self::Replace | Self::Delete, false) => Self::Insert,
            (kind, _) => kind,
        }
    }
}

impl Shape {
    /// Returns the shape for table `number`.
    pub(super) fn of(number: u8) -> Self {
        let (key, value, properties, partitions, rows) = match number % 6 {
            0 => (8, 100, 1, 4, 20_000),
            // This table has long keys, and rows with few properties.
            1 => (300, 0, 0, 2, 5_000),
            // This table has wide rows.
            2 => (12, 20, 120, 8, 500),
            // This table has entities of nearly 1 MiB.
            3 => (10, 900_000, 0, 2, 20),
            // This table has many small partitions.
            4 => (6, 30, 2, 5_000, 10),
            // The other tables have many small rows.
            _ => (10, 4, 0, 1, 60_000),
        };
        Self { number, key, value, properties, partitions, rows }
    }

    pub(super) fn partitions(self) -> u32 {
        self.partitions
    }

    pub(super) fn rows(self) -> u64 {
        self.rows
    }

    /// Returns the maximum number of operations in a transaction.
    pub(super) fn most_operations(self) -> u64 {
        if self.value > 100_000 { 2 } else { 100 }
    }

    pub(super) fn partition_key(self, partition: u32) -> String {
        format!("{partition:0>width$}", width = self.key)
    }

    pub(super) fn row_key(self, row: u64) -> String {
        format!("{row:0>width$}", width = self.key)
    }

    /// Returns the number of the row with the given row key.
    #[expect(clippy::unused_self, reason = "the inverse of `row_key`")]
    pub(super) fn row_number(self, row_key: &str) -> u64 {
        row_key.trim_start_matches('0').parse().unwrap_or_default()
    }

    /// Returns the approximate size of a row in bytes.
    pub(super) fn bytes(self) -> u64 {
        (self.key * 2 + self.value + self.properties * 12 + 50) as u64
    }

    fn filler(self, version: i64) -> Vec<u8> {
        let mut state = version.unsigned_abs() ^ u64::from(self.number) << 50 ^ 0x9E37_79B9_7F4A_7C15;
        let step = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_le_bytes().last().copied().unwrap_or_default()
        };
        (0..self.value).map(step).collect()
    }

    /// Returns the content of a row with the given version.
    pub(super) fn row(self, version: i64) -> Row {
        let mut row = RowWriter::new();
        row.property("Version", ValueRef::Int64(version));
        row.property("Filler", ValueRef::Binary(&self.filler(version)));
        for property in 0..self.properties {
            row.property(&format!("P{property:03}"), ValueRef::Int64(version));
        }
        row.finish()
    }

    /// Returns the version of a row. A row with parts of different versions is an error.
    pub(super) fn version(self, row: RowView<'_>) -> Result<i64, Box<dyn std::error::Error>> {
        let Some(ValueRef::Int64(version)) = row.find("Version", &mut 0)? else {
            return Err("a row has no version".into());
        };
        let mut properties = 0;
        for property in row.properties() {
            let property = property?;
            let is_right = match (property.name, property.value) {
                ("Filler", ValueRef::Binary(bytes)) => bytes == self.filler(version),
                (_, ValueRef::Int64(value)) => value == version,
                _ => false,
            };
            if !is_right {
                return Err(format!("property {} is not of version {version}", property.name).into());
            }
            properties += 1;
        }
        if properties == self.properties + 2 { Ok(version) } else { Err("a row has other properties".into()) }
    }
}
