//! Outbox rows. Each row contains an intent and is stored in the partition of the intent's change.

use std::ops::Bound;

use table_core::etag::{ETag, IfMatch};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{EntityRef, KeyRange, TextRange};
use table_core::row::{self, Row, RowView, RowWriter, entity_bytes};
use table_core::transaction::Transaction;
use table_core::{Error, Result, ValueRef, limits};

use crate::outbox::fault::OutboxFault;
use crate::outbox::intent::Intent;
use crate::outbox::keys::hash;
use crate::outbox::place::{OUTBOX_PREFIX, OutboxKey, POISON_PREFIX, Place};
use crate::outbox::text;

/// The maximum number of properties that contain the JSON of one intent.
const PARTS: usize = 15;
const INTENT: [&str; PARTS] = [
    "Intent", "Intent1", "Intent2", "Intent3", "Intent4", "Intent5", "Intent6", "Intent7", "Intent8",
    "Intent9", "Intent10", "Intent11", "Intent12", "Intent13", "Intent14",
];
pub(super) const VERSION: &str = "Version";
pub(super) const PROMPTED: &str = "Prompted";
pub(super) const ATTEMPTS: &str = "Attempts";
pub(super) const FAILURES: &str = "Failures";
pub(crate) const NOT_BEFORE: &str = "NotBefore";
pub(crate) const WAIT: &str = "Wait";
pub(crate) const CLAIM: &str = "Claim";
pub(super) const ERROR: &str = "Error";
/// The maximum length of a claim identifier or a seal, in bytes. This crate never writes longer values.
const TOKEN: usize = 256;
/// The maximum length of an error, in characters.
pub(crate) const ERROR_CHARS: usize = 1_000;
/// The maximum number of properties that notes add to a row.
const NOTE_PROPERTIES: usize = 8;
/// The space reserved for notes in a row, in bytes.
const NOTE_BYTES: usize = 8 * 1_024;
/// The property that contains the [seal](crate::outbox::seal).
pub(crate) const SEAL: &str = "Seal";

/// Returns the operation that inserts the row for an intent.
///
/// # Errors
/// `EntityTooLarge` if the JSON does not fit into one row; any error from [`Intent::check`].
pub(crate) fn insert(intent: &Intent, chance: u64) -> Result<Operation> {
    intent.check()?;
    let text = text::write(intent)?;
    let most = PARTS * limits::BINARY_BYTES;
    if text.len() > most {
        return Err(Error::of(OutboxFault::TooLarge { bytes: text.len(), most }));
    }
    let mut writer = RowWriter::with_capacity(1);
    write_text(&mut writer, text.as_bytes());
    let row_key = RowKey::new(format!("{}{chance:016x}", prefix_of(intent.source())))?;
    Ok(Operation { row_key, kind: OperationKind::Insert(writer.finish()) })
}

fn write_text(writer: &mut RowWriter, text: &[u8]) {
    for (name, part) in INTENT.iter().zip(text.chunks(limits::BINARY_BYTES)) {
        writer.property(name, ValueRef::Binary(part));
    }
}

/// Returns `true` if an operation writes an outbox row.
pub(crate) fn is_record(operation: &Operation) -> bool {
    operation.row_key.as_str().starts_with(OUTBOX_PREFIX)
}

/// Returns the `RowKey` prefix that all outbox rows for one changed entity share.
fn prefix_of(source: &RowKey) -> String {
    format!("{OUTBOX_PREFIX}{:016x}", hash(source.as_str().bytes()))
}

/// Returns two key ranges: one for the pending rows of a changed entity, and one for its poison rows. They may also contain rows of other entities with the
/// same hash.
pub(crate) fn ranges_of(source: &EntityKey) -> [KeyRange; 2] {
    let pending = prefix_of(&source.row_key);
    let aside = pending.replacen(OUTBOX_PREFIX, POISON_PREFIX, 1);
    [pending, aside].map(|prefix| KeyRange::rows(source.partition_key.as_str(), TextRange::prefix(&prefix)))
}

/// Returns the key range of the pending outbox rows in one partition.
pub(crate) fn range(partition_key: &PartitionKey) -> KeyRange {
    KeyRange::rows(partition_key.as_str(), TextRange::prefix(OUTBOX_PREFIX))
}

/// Returns the key range of the pending outbox rows in one partition after the row with the given key.
pub(crate) fn range_after(partition_key: &PartitionKey, after: Option<&RowKey>) -> KeyRange {
    let mut range = range(partition_key);
    if let Some(after) = after {
        let lower = Bound::Excluded(after.as_str().to_owned());
        range.row_key.intersect(&TextRange { lower, upper: Bound::Unbounded });
    }
    range
}

/// Returns the key range of the pending outbox rows in all partitions. A query with this range scans the table.
pub(crate) fn everywhere() -> KeyRange {
    let partitions = TextRange { lower: Bound::Unbounded, upper: Bound::Unbounded };
    KeyRange { partition_key: partitions, row_key: TextRange::prefix(OUTBOX_PREFIX) }
}

/// A pending intent, read from an outbox row.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) place: Place,
    pub(crate) etag: ETag,
    /// The Timestamp of the transaction that made the change. The first update of the row stores it as a property, because the update changes the row's own
    /// Timestamp.
    pub(crate) version: u64,
    /// The time at which a sweep last sent a message for the row.
    pub(crate) prompted: Option<u64>,
    /// The number of failures, plus the number of attempts started since the last recorded outcome. If it exceeds the limit, the row becomes poison.
    pub(crate) attempts: u32,
    /// The number of attempts that have ended with a permanent error.
    pub(crate) failures: u32,
    /// The time until which workers ignore the row, because it is claimed or because its last attempt failed.
    pub(crate) not_before: u64,
    /// The length of the wait that ends at `not_before`, in ticks.
    pub(crate) wait: u64,
    /// The identifier of the current or last claim.
    pub(crate) claim: Option<String>,
    /// The error of the last attempt.
    pub(crate) error: Option<String>,
    pub(crate) seal: Option<String>,
    /// `false` if the row has no space for a note, because another program wrote it. Adding a note then replaces the row and removes the properties that other
    /// programs have added.
    pub(crate) has_space: bool,
    text: Vec<u8>,
}

impl Pending {
    /// Reads a pending row or a poison row. The location of a poison row is the location that it had when it was pending.
    pub(crate) fn read(table: &TableName, entity: EntityRef<'_>) -> Result<Self> {
        let partition_key = PartitionKey::new(entity.partition_key)?;
        let row_key = OutboxKey::of_stored(entity.row_key)?;
        Self::of(Place { table: table.clone(), partition_key, row_key }, entity.row, entity.etag())
    }

    pub(crate) fn of(place: Place, row: RowView<'_>, etag: ETag) -> Result<Self> {
        let text = text_in(row)?;
        let number = |name| {
            Ok::<_, Error>(match row.find(name, &mut 0)? {
                Some(ValueRef::Int64(number)) => u64::try_from(number).ok(),
                _ => None,
            })
        };
        let count =
            |name| Ok::<_, Error>(number(name)?.map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)));
        let text_of = |name, most| {
            Ok::<_, Error>(match row.find(name, &mut 0)? {
                Some(ValueRef::String(text)) => Some(text.chars().take(most).collect()),
                _ => None,
            })
        };
        let bytes = entity_bytes(place.partition_key.as_str(), place.row_key.as_str(), Some(&row.to_row()));
        Ok(Self {
            // IMPORTANT: the seal does not cover this property, so anyone who may write to the partition can change it. Within one store, a change cannot be
            // later than its row, so the version is limited to the row's Timestamp. `docs/clocks.md` describes rows copied from a store with a fast clock.
            version: number(VERSION)?.map_or(row.timestamp(), |version| version.min(row.timestamp())),
            prompted: number(PROMPTED)?,
            attempts: count(ATTEMPTS)?,
            failures: count(FAILURES)?,
            not_before: number(NOT_BEFORE)?.unwrap_or(0),
            wait: number(WAIT)?.unwrap_or(0),
            claim: text_of(CLAIM, TOKEN)?,
            error: text_of(ERROR, ERROR_CHARS)?,
            seal: text_of(SEAL, TOKEN)?,
            has_space: row.len() + NOTE_PROPERTIES <= limits::PROPERTIES
                && bytes + NOTE_BYTES <= limits::ENTITY_BYTES,
            place,
            etag,
            text,
        })
    }

    /// Returns the JSON of the intent.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Parses the JSON of the intent.
    ///
    /// # Errors
    /// `FormatTooNew` if a newer version of the program wrote the intent; `Corrupted` if the JSON is not an intent.
    pub(crate) fn intent(&self) -> Result<Intent> {
        parse(&self.text)
    }

    /// Returns the operations that turn the row into a poison row. They fail if another worker has changed the row in the meantime.
    pub(crate) fn aside(&self) -> Result<[Operation; 2]> {
        let kind = OperationKind::InsertOrReplace(self.row(self.attempts));
        Ok([self.done(), Operation { row_key: self.place.row_key.poison()?, kind }])
    }

    /// Returns the operations that make a poison row pending again. Its number of attempts is reset to 0, and the version of the change is kept.
    pub(crate) fn back(&self) -> Result<[Operation; 2]> {
        let delete = OperationKind::Delete(IfMatch::ETag(self.etag.clone()));
        let delete = Operation { row_key: self.place.row_key.poison()?, kind: delete };
        let kind = OperationKind::InsertOrReplace(self.row(0));
        Ok([delete, Operation { row_key: self.place.row_key.to_row_key(), kind }])
    }

    /// Returns the row without its notes about claims and delays.
    pub(super) fn row(&self, attempts: u32) -> Row {
        let mut writer = RowWriter::with_capacity(5);
        write_text(&mut writer, &self.text);
        // IMPORTANT: the new row has a new Timestamp, so the version is stored as a property.
        writer.property(VERSION, number(self.version));
        if attempts > 0 {
            writer.property(ATTEMPTS, ValueRef::Int64(attempts.into()));
        }
        for (name, text) in [(ERROR, &self.error), (SEAL, &self.seal)] {
            if let Some(text) = text {
                writer.property(name, ValueRef::String(text));
            }
        }
        writer.finish()
    }

    /// Sets the row's `ETag` after a note has been written. If the store returned no new `ETag`, the old one is kept.
    pub(crate) fn versioned(&mut self, etag: Option<ETag>) {
        self.has_space = true;
        self.etag = etag.unwrap_or_else(|| self.etag.clone());
    }

    /// Returns the operation that deletes the row of a completed intent. The operation fails if another worker has changed the row in the meantime.
    pub(crate) fn done(&self) -> Operation {
        let kind = OperationKind::Delete(IfMatch::ETag(self.etag.clone()));
        Operation { row_key: self.place.row_key.to_row_key(), kind }
    }
}

/// Adds the version of the change to a pending row. The version is then preserved when the row is copied and gets a new Timestamp. Returns `None` for any other
/// row, or if the row already contains the version.
///
/// Without this property, the version of a copied change would be the Timestamp of the copy, and the order of changes would be lost.
pub(crate) fn versioned(entity: EntityRef<'_>) -> Result<Option<Row>> {
    if !entity.row_key.starts_with(OUTBOX_PREFIX) || entity.row.find(VERSION, &mut 0)?.is_some() {
        return Ok(None);
    }
    let mut patch = RowWriter::with_capacity(1);
    let version = i64::try_from(entity.row.timestamp()).unwrap_or(i64::MAX);
    patch.property(VERSION, ValueRef::Int64(version));
    row::merge(entity.row, patch.finish().view()).map(Some)
}

/// Returns `true` if the property contains the version of an outbox row's change. The property is optional. If it is missing, the version is the row's
/// Timestamp.
pub(crate) fn is_version(row_key: &str, property: &str) -> bool {
    row_key.starts_with(OUTBOX_PREFIX) && property == VERSION
}

/// Returns the intents that a transaction records.
pub(crate) fn intents(transaction: &Transaction) -> Result<Vec<Intent>> {
    let records = transaction.operations().iter().filter(|operation| is_record(operation));
    records.filter_map(|record| record.kind.row()).map(|row| parse(&text_in(row.view())?)).collect()
}

/// Returns the JSON of an intent, assembled from the properties of its row.
pub(crate) fn text_in(row: RowView<'_>) -> Result<Vec<u8>> {
    let (mut text, mut hint) = (Vec::new(), 0);
    for name in INTENT {
        let Some(ValueRef::Binary(part)) = row.find(name, &mut hint)? else { break };
        text.extend_from_slice(part);
    }
    Ok(text)
}

/// Returns the seal in an intent's row, or `None` if the row has no seal or an empty seal.
pub(crate) fn seal_in(row: RowView<'_>) -> Result<Option<&str>> {
    Ok(match row.find(SEAL, &mut 0)? {
        Some(ValueRef::String(seal)) if !seal.is_empty() => Some(seal),
        _ => None,
    })
}

fn parse(text: &[u8]) -> Result<Intent> {
    let text = std::str::from_utf8(text).map_err(|error| Error::of(OutboxFault::Text(error)))?;
    text::read(text)
}

/// Converts a number to a property value.
pub(super) fn number(number: u64) -> ValueRef<'static> {
    ValueRef::Int64(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Creates a transaction from operations on one partition.
pub(crate) fn together(
    partition_key: &PartitionKey,
    operations: impl IntoIterator<Item = Operation>,
    limits: limits::Limits,
) -> Result<Transaction> {
    let mut transaction = Transaction::new(partition_key.clone(), limits)?;
    operations.into_iter().try_for_each(|operation| transaction.push(operation))?;
    Ok(transaction)
}

/// Creates a transaction from one operation.
pub(crate) fn alone(key: &EntityKey, kind: OperationKind, limits: limits::Limits) -> Result<Transaction> {
    together(&key.partition_key, [Operation { row_key: key.row_key.clone(), kind }], limits)
}

/// Returns a copy of a row without its Timestamp.
pub(crate) fn fresh(row: &Row) -> Row {
    row.clone().with_timestamp(0)
}
