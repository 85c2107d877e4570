//! Protection of wide entities and sequences from plain writes.
//!
//! Their schemas declare no derived rows. A plain write could nevertheless replace a single part of a wide entity, or rewind a sequence.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use table_core::query::Select;
use table_core::{
    DynTableStore, ETag, EntityKey, IfMatch, Operation, OperationKind, PartitionKey, TableEntity, TableName,
    TableStore, Value, ValueRef,
};
use uuid::Uuid;

use crate::derived::part::{WRITE_ID, part_of};
use crate::derived::stored_parts::stored_parts;
use crate::error::{Error, Result};
use crate::keys;

/// The `RowKey` prefix of the row of a sequence. The name of the sequence follows.
const SEQUENCE: &str = "\u{FFFC}sequence_";
/// The property with a sequence's next number.
const NEXT: &str = "Next";

/// The `WriteId`s of parts of wide entities, by RowKey.
type Parts = BTreeMap<String, Uuid>;

/// The stored parts of the wide entities that a set of writes affects.
#[derive(Default)]
struct Stored {
    parts: Parts,
    /// The `ETag`s of the parts, by RowKey.
    etags: HashMap<String, ETag>,
}

/// Checks a set of writes to a partition. They must leave wide entities complete, and must not rewind a sequence.
///
/// Returns the writes grouped into units. Each unit must be sent in one transaction. All writes to one wide entity form a unit, and every other write is a unit
/// of its own.
///
/// The writes may delete all parts of a wide entity, change properties of its parts, or replace all its parts with the parts of another write. The rows may
/// change before the writes are sent. The returned writes to parts and sequences are therefore conditional on the versions that were read.
///
/// # Errors
/// - `Derived` if the check fails. The error names the wide entity or the sequence.
/// - Any error from the store.
pub async fn guard_writes(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    mut operations: Vec<Operation>,
) -> Result<Vec<Vec<Operation>>> {
    for operation in &mut operations {
        if let Some(name) = operation.row_key.as_str().strip_prefix(SEQUENCE)
            && let Some(state) = refuse_lowered(store, table, partition_key, (name, operation)).await?
        {
            require_state(&mut operation.kind, state);
        }
    }
    let row_keys: Vec<_> = operations.iter().map(|operation| operation.row_key.as_str()).collect();
    let stored = stored_parts(store, table, partition_key, &row_keys).await?;
    let Stored { parts: stored, mut etags } = Stored::of(stored);
    let mut after = stored.clone();
    for operation in &operations {
        apply(&mut after, operation)?;
    }
    let mut bases: Vec<&str> = stored.keys().filter_map(|row_key| Some(part_of(row_key)?.0)).collect();
    bases.dedup();
    if let Some(base) = bases.into_iter().find(|base| is_torn(&of(&stored, base), &of(&after, base))) {
        return Err(Error::Derived(format!(
            "the parts of the wide entity ('{partition_key}', '{base}') are written together; plain rows would leave these wrong. Keep the `{WRITE_ID}` of \
             each part, select all parts, or pass `--bypass-derived`"
        )));
    }
    let (mut units, mut units_of) = (Vec::<Vec<Operation>>::new(), HashMap::new());
    for mut operation in operations {
        let row_key = operation.row_key.as_str();
        let is_part = stored.contains_key(row_key) || after.contains_key(row_key);
        let Some((base, _)) = part_of(row_key).filter(|_| is_part) else {
            units.push(vec![operation]);
            continue;
        };
        let at = *units_of.entry(base.to_owned()).or_insert(units.len());
        let etag = match etags.remove(row_key) {
            None => etag_of_plain(store, table, partition_key, &operation).await?,
            etag => etag,
        };
        require_state(&mut operation.kind, etag);
        match units.get_mut(at) {
            Some(unit) => unit.push(operation),
            None => units.push(vec![operation]),
        }
    }
    Ok(units)
}

impl Stored {
    fn of(rows: Vec<TableEntity>) -> Self {
        let mut stored = Self::default();
        for row in rows {
            let row_key = row.key().row_key.as_str();
            if let Some(Value::Guid(write)) = row.get(WRITE_ID) {
                stored.parts.insert(row_key.to_owned(), *write);
            }
            if let Some(etag) = row.etag() {
                stored.etags.insert(row_key.to_owned(), etag.clone());
            }
        }
        stored
    }
}

/// Makes a write conditional on the state that was read. A write that already has a condition keeps it.
///
/// If `state` is an ETag, the row must still have it. If `state` is `None`, the row must still be absent.
///
/// ```
/// use table_core::row::RowWriter;
/// use table_core::{ETag, OperationKind};
/// use table_inspect::derived::require_state;
///
/// let mut kind = OperationKind::InsertOrReplace(RowWriter::new().finish());
/// require_state(&mut kind, Some(ETag::from_ticks(7)));
/// assert_eq!(kind.name(), "replace");
/// ```
pub fn require_state(kind: &mut OperationKind, state: Option<ETag>) {
    let empty = OperationKind::Delete(IfMatch::Any);
    *kind = match (std::mem::replace(kind, empty), state) {
        (OperationKind::InsertOrReplace(row) | OperationKind::Replace(row, IfMatch::Any), Some(etag)) => {
            OperationKind::Replace(row, IfMatch::ETag(etag))
        }
        (OperationKind::InsertOrMerge(row) | OperationKind::Merge(row, IfMatch::Any), Some(etag)) => {
            OperationKind::Merge(row, IfMatch::ETag(etag))
        }
        (OperationKind::Delete(IfMatch::Any), Some(etag)) => OperationKind::Delete(IfMatch::ETag(etag)),
        (OperationKind::InsertOrReplace(row) | OperationKind::InsertOrMerge(row), None) => {
            OperationKind::Insert(row)
        }
        (kind, _) => kind,
    };
}

/// Checks that a write to the row of a sequence neither lowers nor removes its next number.
///
/// Returns the ETag of the stored row, or `Some(None)` if no row is stored. Returns `None` if the operation does not set the next number.
async fn refuse_lowered(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    (name, operation): (&str, &Operation),
) -> Result<Option<Option<ETag>>> {
    let next = match operation.kind.row() {
        None if matches!(operation.kind, OperationKind::Check(_)) => return Ok(None),
        None => None,
        Some(row) => row.view().find(NEXT, &mut 0)?,
    };
    if next.is_none() && is_merge(&operation.kind) {
        return Ok(None);
    }
    let key = EntityKey { partition_key: partition_key.clone(), row_key: operation.row_key.clone() };
    let stored = match keys::read(store, table, &key).await {
        Err(Error::Store(error)) if error.is_table_not_found() => None,
        stored => stored?,
    };
    let etag = stored.as_ref().and_then(|row| row.etag().cloned());
    let Some(Value::Int64(reached)) = stored.as_ref().and_then(|row| row.get(NEXT)) else {
        return Ok(Some(etag));
    };
    let change = match next {
        Some(ValueRef::Int64(next)) if next >= *reached => return Ok(Some(etag)),
        Some(ValueRef::Int64(next)) => format!("set it back to {next}"),
        _ => "remove it".to_owned(),
    };
    Err(Error::Derived(format!(
        "sequence `{name}` of partition '{partition_key}' has {reached} as its next number, and the write would {change}, so that the numbers are issued again; \
         plain rows would leave these wrong. Omit this row, or pass `--bypass-derived`"
    )))
}

/// Returns the ETag of a stored row that is not a part, although a new part has its RowKey. Returns `None` if no row is stored.
///
/// Such rows are read one at a time, because the range of an entity can contain many rows that are not parts.
async fn etag_of_plain(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    operation: &Operation,
) -> Result<Option<ETag>> {
    let key = EntityKey { partition_key: partition_key.clone(), row_key: operation.row_key.clone() };
    match store.get(table, &key, &Select::names([WRITE_ID])).await {
        Err(error) if error.is_table_not_found() => Ok(None),
        row => Ok(row?.map(|row| row.etag)),
    }
}

const fn is_merge(kind: &OperationKind) -> bool {
    matches!(kind, OperationKind::Merge(..) | OperationKind::InsertOrMerge(_))
}

/// Applies a write to the map of parts.
fn apply(parts: &mut Parts, operation: &Operation) -> Result<()> {
    let row_key = operation.row_key.as_str();
    let write = operation.kind.row().map(|row| row.view().find(WRITE_ID, &mut 0)).transpose()?.flatten();
    match (&operation.kind, write) {
        (OperationKind::Check(_), _) => {}
        (_, Some(ValueRef::Guid(write))) => {
            parts.insert(row_key.to_owned(), write);
        }
        (kind, None) if is_merge(kind) => {}
        _ => {
            parts.remove(row_key);
        }
    }
    Ok(())
}

/// Returns the parts of the wide entity whose RowKey is `base`.
fn of<'a>(parts: &'a Parts, base: &str) -> BTreeMap<&'a str, Uuid> {
    let is_of = |row_key: &str| part_of(row_key).is_some_and(|(of, _)| of == base);
    parts.iter().filter(|(row_key, _)| is_of(row_key)).map(|(key, write)| (key.as_str(), *write)).collect()
}

/// Returns `true` if the parts were changed and are now inconsistent. They then have different `WriteId`s, or parts with the same `WriteId` are missing.
fn is_torn(before: &BTreeMap<&str, Uuid>, after: &BTreeMap<&str, Uuid>) -> bool {
    let Some(one) = after.values().next() else { return false };
    let is_mixed = after.values().any(|write| write != one);
    let is_missing = before.iter().any(|(row_key, write)| write == one && !after.contains_key(row_key));
    before != after && (is_mixed || is_missing)
}
