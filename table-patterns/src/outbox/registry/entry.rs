//! The rows of the registry: registered partitions with their marks.

use table_core::etag::ETag;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::query::EntityRef;
use table_core::row::{Row, RowView, RowWriter};
use table_core::{Error, Result, ValueRef};

use crate::outbox::fault::OutboxFault;

/// The property of a registration with the time, in ticks, at which all its grants have expired.
const UNTIL: &str = "Until";

/// A registry row: a registered partition.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) table: TableName,
    pub(crate) partition_key: PartitionKey,
    pub(super) key: EntityKey,
    pub(super) etag: ETag,
    pub(super) registered: u64,
    /// `true` if the partition is marked as quiet.
    pub(crate) is_quiet: bool,
    /// `true` if the partition is marked as erased.
    pub(crate) is_erased: bool,
    /// The time, in ticks, until which grants keep the partition active; 0 without grants.
    pub(super) until: u64,
}

/// A mark on a registered partition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    Quiet,
    Erased,
}

impl Mark {
    const fn name(self) -> &'static str {
        match self {
            Self::Quiet => "Quiet",
            Self::Erased => "Erased",
        }
    }

    fn is_in(self, row: RowView<'_>) -> bool {
        matches!(row.find(self.name(), &mut 0), Ok(Some(ValueRef::Boolean(true))))
    }
}

/// Returns a registration with a mark. It replaces the stored registration, including its grants.
pub(super) fn marked(table: &TableName, mark: Mark) -> Row {
    let mut writer = RowWriter::with_capacity(2);
    writer.property("Table", ValueRef::String(table.as_str()));
    writer.property(mark.name(), ValueRef::Boolean(true));
    writer.finish()
}

/// Returns a registration without marks. It is merged into the stored registration, whose grants stay, unless `until` is given.
pub(super) fn registration(table: &TableName, until: Option<u64>) -> Row {
    let mut writer = RowWriter::with_capacity(4);
    writer.property("Table", ValueRef::String(table.as_str()));
    for mark in [Mark::Quiet, Mark::Erased] {
        writer.property(mark.name(), ValueRef::Boolean(false));
    }
    if let Some(until) = until {
        writer.property(UNTIL, ValueRef::Int64(i64::try_from(until).unwrap_or(i64::MAX)));
    }
    writer.finish()
}

/// Parses a registry row.
pub(super) fn entry(row: EntityRef<'_>) -> Result<Entry> {
    let Some(ValueRef::String(table)) = row.row.find("Table", &mut 0)? else {
        return Err(Error::of(OutboxFault::Registry));
    };
    Ok(Entry {
        table: TableName::new(table)?,
        partition_key: PartitionKey::new(row.row_key)?,
        key: EntityKey::new(row.partition_key, row.row_key)?,
        etag: row.etag(),
        registered: row.row.timestamp(),
        is_quiet: Mark::Quiet.is_in(row.row),
        is_erased: Mark::Erased.is_in(row.row),
        until: active_until(row.row),
    })
}

/// Returns `true` if a registry row is marked as erased.
pub(crate) fn is_erased(row: RowView<'_>) -> bool {
    Mark::Erased.is_in(row)
}

/// Returns the time until which grants keep a registered partition active. Returns 0 if there are none.
pub(super) fn active_until(row: RowView<'_>) -> u64 {
    match row.find(UNTIL, &mut 0) {
        Ok(Some(ValueRef::Int64(until))) => u64::try_from(until).unwrap_or(0),
        _ => 0,
    }
}
