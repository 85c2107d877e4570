//! A table checksum independent of row order.

use std::fmt;

use sha2::{Digest, Sha256};
use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Query};
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::outbox::rows;
use crate::paging::Pages;

/// The checksum of a table: the number of rows, the number of rows that the store cannot represent, and the sum of the first 128 bits of each row's SHA-256.
/// The hash covers the keys, and the properties sorted by name, with their types and values. It excludes Timestamps and `ETag`s, because each store assigns its
/// own. It also excludes the versions of [intents](crate::outbox), which are copies of Timestamps.
///
/// The rows that the store [cannot represent](table_core::query::Page::skipped) are only counted. If two checksums count such rows, equality says nothing
/// about the contents of these rows.
///
/// The checksum detects accidental differences. It does not protect against deliberate changes.
///
/// ```
/// use table_patterns::embedded::Engine;
/// use table_patterns::migrate::Checksum;
/// use table_patterns::{IfMatch, Selection, TableEntity, TableName, TableStoreExt};
///
/// # pollster::block_on(async {
/// let (store, name) = (Engine::in_memory(), TableName::new("Employee")?);
/// let table = store.untyped("Employee")?.create_if_missing().await?;
/// assert_eq!(Checksum::of(&store, &name).await?, Checksum::default());
///
/// table.insert(&TableEntity::new("Sales", "1")?.with("Age", 34)).await?;
/// let before = Checksum::of(&store, &name).await?;
/// table.replace(&TableEntity::new("Sales", "1")?.with("Age", 34_i64), IfMatch::Any).await?;
/// let after = Checksum::of(&store, &name).await?;
/// assert!(before.rows() == after.rows() && before != after); // a different type is a different value
/// # Ok::<(), table_patterns::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    rows: u64,
    sum: u128,
    skipped: u64,
}

impl Checksum {
    /// Reads all rows of a table and returns its checksum.
    ///
    /// # Errors
    /// `Corrupted` if a row cannot be decoded; any error from the store.
    pub async fn of(store: &impl TableStore, table: &TableName) -> Result<Self> {
        let query = Query::new(KeyRange::ALL);
        let (mut checksum, mut pages) = (Self::default(), Pages::new(store, table, &query));
        while let Some(page) = pages.next().await? {
            page.rows.iter().try_for_each(|row| checksum.add(row))?;
            checksum.skipped = checksum.skipped.saturating_add(page.skipped);
        }
        Ok(checksum)
    }

    /// Adds a row to the checksum.
    ///
    /// # Errors
    /// `Corrupted` if the row cannot be decoded.
    pub fn add(&mut self, row: EntityRef<'_>) -> Result<()> {
        let mut properties = row.row.properties().collect::<Result<Vec<_>>>()?;
        properties.retain(|property| !rows::is_version(row.row_key, property.name));
        properties.sort_unstable_by_key(|property| property.name);
        let mut hash = Sha256::new();
        bytes(&mut hash, row.partition_key.as_bytes());
        bytes(&mut hash, row.row_key.as_bytes());
        for property in &properties {
            bytes(&mut hash, property.name.as_bytes());
            value(&mut hash, property.value);
        }
        let digest = hash.finalize();
        // Unlike an exclusive or, the sum detects a duplicated row.
        let first = digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
        self.sum = self.sum.wrapping_add(first);
        self.rows = self.rows.saturating_add(1);
        Ok(())
    }

    /// Returns the number of rows that the store cannot represent, and whose contents the checksum therefore does not cover.
    #[must_use]
    pub const fn skipped(self) -> u64 {
        self.skipped
    }

    /// Returns the number of rows in the checksum.
    #[must_use]
    pub const fn rows(self) -> u64 {
        self.rows
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, {:032x}", self.rows, self.sum)?;
        if self.skipped > 0 {
            write!(f, ", {} rows omitted", self.skipped)?;
        }
        Ok(())
    }
}

/// Adds the length of `bytes` and then `bytes` to a hash, so the boundaries between values are unambiguous.
fn bytes(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn value(hash: &mut Sha256, value: ValueRef<'_>) {
    bytes(hash, value.edm_type().name().as_bytes());
    match value {
        ValueRef::String(text) => bytes(hash, text.as_bytes()),
        ValueRef::Int32(number) => hash.update(number.to_le_bytes()),
        ValueRef::Int64(number) => hash.update(number.to_le_bytes()),
        // JSON has only one NaN, so a copy loses the payload bits of a NaN, and the checksum ignores them.
        ValueRef::Double(number) if number.is_nan() => hash.update(f64::NAN.to_bits().to_le_bytes()),
        ValueRef::Double(number) => hash.update(number.to_bits().to_le_bytes()),
        ValueRef::Boolean(truth) => hash.update([u8::from(truth)]),
        ValueRef::DateTime(ticks) => hash.update(ticks.to_le_bytes()),
        ValueRef::Guid(id) => hash.update(id.as_bytes()),
        ValueRef::Binary(content) => bytes(hash, content),
    }
}
