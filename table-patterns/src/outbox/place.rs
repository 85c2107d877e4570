//! Keys and locations of outbox rows. Messages refer to these rows.

use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::{Error, Result};

use crate::outbox::fault::OutboxFault;

/// The prefix of the `RowKey`s of outbox rows. It is followed by 16 digits, the hash of the changed entity's `RowKey`, and by 16 random digits.
pub const OUTBOX_PREFIX: &str = "\u{FFFC}outbox_";

/// The prefix of the `RowKey`s of poison intents. It is followed by the digits of the original outbox row's key.
pub const POISON_PREFIX: &str = "\u{FFFC}poison_";

/// The `RowKey` of an outbox row.
///
/// IMPORTANT: anyone who can write to the queue can send a message that refers to any row in any table. This type accepts only keys of outbox rows. No message
/// can therefore make a worker claim, move or delete an entity or a row of another pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OutboxKey(RowKey);

impl OutboxKey {
    /// Converts a key to an outbox key. Returns `None` if the key has a different prefix.
    pub(crate) fn of(row_key: RowKey) -> Option<Self> {
        row_key.as_str().starts_with(OUTBOX_PREFIX).then_some(Self(row_key))
    }

    /// Returns the pending key for a stored key. For a poison row, this is the key that the row had when it was pending.
    ///
    /// # Errors
    /// `Corrupted` if the row is not an outbox row.
    pub(crate) fn of_stored(row_key: &str) -> Result<Self> {
        let row_key = match row_key.strip_prefix(POISON_PREFIX) {
            Some(rest) => RowKey::new([OUTBOX_PREFIX, rest].concat())?,
            None => RowKey::new(row_key)?,
        };
        Self::of(row_key).ok_or_else(|| Error::of(OutboxFault::OtherRow))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn to_row_key(&self) -> RowKey {
        self.0.clone()
    }

    /// Returns the key of this row as a poison row.
    pub(crate) fn poison(&self) -> Result<RowKey> {
        let rest = self.as_str().strip_prefix(OUTBOX_PREFIX).unwrap_or_default();
        RowKey::new([POISON_PREFIX, rest].concat())
    }

    /// Returns the part of the key that identifies the source (the changed entity). It is the same for all intents of one source, and almost always differs
    /// between sources.
    pub(crate) fn source(&self) -> &str {
        recorded_source(&self.0).unwrap_or(self.as_str())
    }
}

/// Returns the part of an outbox row's key that identifies the changed entity. Returns `None` for any other key.
pub(crate) fn recorded_source(row_key: &RowKey) -> Option<&str> {
    let row_key = row_key.as_str();
    row_key.starts_with(OUTBOX_PREFIX).then(|| row_key.get(..OUTBOX_PREFIX.len() + 16).unwrap_or(row_key))
}

/// The location of an outbox row: the table and partition of the change, and the row's key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) table: TableName,
    pub(crate) partition_key: PartitionKey,
    pub(crate) row_key: OutboxKey,
}

impl Place {
    /// Returns the key of the row.
    pub(crate) fn key(&self) -> EntityKey {
        EntityKey { partition_key: self.partition_key.clone(), row_key: self.row_key.to_row_key() }
    }

    /// Returns the key of this row as a poison row.
    pub(crate) fn poison_key(&self) -> Result<EntityKey> {
        Ok(EntityKey { partition_key: self.partition_key.clone(), row_key: self.row_key.poison()? })
    }
}
