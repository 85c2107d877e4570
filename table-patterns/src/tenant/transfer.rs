//! Converts rows and blob addresses for an export, or for an import under another PartitionKey or into another store.

use sha2::{Digest, Sha256};
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::Row;
use table_core::{Error, Result, ValueRef};

use crate::blob::BlobRef;
use crate::feed::FEED_PREFIX;
use crate::outbox::notes::without_notes;
use crate::outbox::rows::seal_in;
use crate::outbox::sealed::with_seal;
use crate::outbox::{OUTBOX_PREFIX, POISON_PREFIX};
use crate::sequence::SEQUENCE_PREFIX;
use crate::tenant::fault::TenantFault;
use crate::tenant::incoming::{Incoming, entity};
use crate::tenant::place::Place;
use crate::unit::RESERVATION_PREFIX;

/// The number of hexadecimal digits that identify the changed entity in an intent's RowKey.
const SOURCE: usize = 16;

/// Returns a row as it is stored at its destination. If its PartitionKey changes, the addresses of its blobs also change.
///
/// # Errors
/// `InvalidInput` if the old PartitionKey also occurs where it cannot be replaced: in the row's properties, in its index rows, or in recorded steps; or, for a
/// row of an unregistered type, in its RowKey.
pub(super) fn moved(place: &Place, incoming: &Incoming) -> Result<Row> {
    let Incoming { from, to, row, .. } = incoming;
    if from == to {
        return Ok(row.clone());
    }
    let row_key = from.row_key.as_str();
    if from.row_key.is_reserved() {
        let is_recorded = [OUTBOX_PREFIX, POISON_PREFIX].iter().any(|prefix| row_key.starts_with(prefix));
        if is_recorded {
            return Err(Error::of(TenantFault::Pending));
        }
        let is_free = [FEED_PREFIX, SEQUENCE_PREFIX, RESERVATION_PREFIX]
            .iter()
            .any(|prefix| row_key.starts_with(prefix));
        return if is_free {
            Ok(row.clone())
        } else {
            Err(Error::of(TenantFault::Bound(row_key.to_owned())))
        };
    }
    match place.member(entity(from, row)) {
        Some(member) => member.check_moved(from, row, &to.partition_key)?,
        // The rows of an index are checked with their entities.
        None if place.has_index_row(entity(from, row)) => {}
        None => check_unknown(from, row)?,
    }
    with_moved_blobs(place, incoming)
}

/// Checks that a row of an unregistered type does not contain its PartitionKey, except in blob addresses, which are adapted.
///
/// # Errors
/// `InvalidInput` if the RowKey or a string of the row contains the PartitionKey.
fn check_unknown(from: &EntityKey, row: &Row) -> Result<()> {
    let contains =
        |text: &str| !from.partition_key.as_str().is_empty() && text.contains(from.partition_key.as_str());
    let mut is_bound = contains(from.row_key.as_str());
    for property in row.view().properties() {
        if let ValueRef::String(text) = property?.value {
            is_bound |= contains(text) && text.parse::<BlobRef>().is_err();
        }
    }
    if is_bound { Err(Error::of(TenantFault::BoundRow)) } else { Ok(()) }
}

/// If the row is an intent, returns the insert operation that recorded it, under the key that the seal covers; otherwise returns `None`. A poison intent keeps
/// the seal of its original row.
fn record(row_key: &str, row: &Row) -> Result<Option<Operation>> {
    let row_key = match row_key.strip_prefix(POISON_PREFIX) {
        Some(rest) => RowKey::new([OUTBOX_PREFIX, rest].concat())?,
        None if row_key.starts_with(OUTBOX_PREFIX) => RowKey::new(row_key)?,
        None => return Ok(None),
    };
    Ok(Some(Operation { row_key, kind: OperationKind::Insert(row.clone()) }))
}

/// If the row is a sealed intent, returns the insert operation that recorded it; otherwise returns `None`.
fn sealed_record(row_key: &str, row: &Row) -> Result<Option<Operation>> {
    if seal_in(row.view())?.is_some() { record(row_key, row) } else { Ok(None) }
}

fn no_outbox(table: &TableName, key: &EntityKey) -> Error {
    let error = Error::of(TenantFault::NoOutbox).with_table(table.as_str());
    error.with_key(key.partition_key.as_str(), key.row_key.as_str())
}

/// Converts a poison intent back into a pending intent without attempts. Returns any other row unchanged.
///
/// The new key is computed from the old key with SHA-256, which prevents another program from choosing a key that replaces another intent. The target's poison
/// queue needs no change, because it contains no message for the intent.
pub(super) fn resumed(key: EntityKey, row: Row) -> Result<(EntityKey, Row)> {
    let Some(rest) = key.row_key.as_str().strip_prefix(POISON_PREFIX) else { return Ok((key, row)) };
    let source = rest.get(..SOURCE).unwrap_or_default();
    let hash = Sha256::digest(key.row_key.as_str());
    let chance = hash.first_chunk().map_or(0, |front| u64::from_be_bytes(*front));
    let row_key = RowKey::new(format!("{OUTBOX_PREFIX}{source}{chance:016x}"))?;
    Ok((EntityKey { row_key, ..key }, without_notes(&row)?))
}

/// Returns a row as it is exported. A recorded intent keeps its seal only if the seal is valid, because the import seals it again.
///
/// # Errors
/// `InvalidInput` if no registered type has an outbox, which is needed to check the seal; any error from reading the key.
pub(super) async fn exported(place: &Place, table: &TableName, key: &EntityKey, row: Row) -> Result<Row> {
    let Some(record) = sealed_record(key.row_key.as_str(), &row)? else { return Ok(row) };
    let mut is_checked = false;
    for checking in
        place.members.iter().filter_map(|member| member.is_sealed(table, &key.partition_key, &record))
    {
        // The types in a table may have several outboxes with different keys.
        if checking.await? {
            return Ok(row);
        }
        is_checked = true;
    }
    if is_checked { with_seal(&row, "") } else { Err(no_outbox(table, key)) }
}

/// Replaces the seal of a recorded intent, if it has one, with a seal from this program. Returns any other row unchanged.
///
/// # Errors
/// `InvalidInput` if no registered type has an outbox; any error from reading the key.
pub(super) async fn sealed(place: &Place, table: &TableName, key: &EntityKey, row: Row) -> Result<Row> {
    let Some(record) = sealed_record(key.row_key.as_str(), &row)? else { return Ok(row) };
    let sealing =
        place.members.iter().find_map(|member| member.seal(table, &key.partition_key, vec![record.clone()]));
    let sealing = sealing.ok_or_else(|| no_outbox(table, key))?;
    let sealed = sealing.await?.into_iter().next().and_then(|operation| operation.kind.row().cloned());
    Ok(sealed.unwrap_or(row))
}

#[cfg(not(feature = "blobs"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the feature `blobs`")]
fn with_moved_blobs(_: &Place, incoming: &Incoming) -> Result<Row> {
    Ok(incoming.row.clone())
}

#[cfg(feature = "blobs")]
use with_blobs::with_moved_blobs;

#[cfg(feature = "blobs")]
mod with_blobs {
    use table_core::row::RowWriter;

    use super::{BlobRef, Incoming, Place, Result, Row, ValueRef};

    /// Returns a row that contains the addresses of its blobs after the import.
    pub(super) fn with_moved_blobs(place: &Place, incoming: &Incoming) -> Result<Row> {
        let Incoming { from, to, row, .. } = incoming;
        let (mut writer, mut has_moved) = (RowWriter::with_capacity(row.view().len()), false);
        for property in row.view().properties() {
            let property = property?;
            let address = match property.value {
                ValueRef::String(text) => text.parse::<BlobRef>().ok(),
                _ => None,
            };
            let folder = address.as_ref().map(|blob| place.folder_with(blob.path())).transpose()?.flatten();
            if let (Some(mut blob), Some(folder)) = (address, folder)
                && let Some(path) = folder.moved(&blob.path, (&from.partition_key, &to.partition_key))?
            {
                (blob.path, has_moved) = (path, true);
                writer.property(property.name, ValueRef::String(&blob.to_string()));
            } else {
                writer.property(property.name, property.value);
            }
        }
        Ok(if has_moved { writer.finish() } else { row.clone() })
    }
}
