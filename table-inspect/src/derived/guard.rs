//! Protects wide entities and sequences from plain writes. Their schemas declare no derived rows, but a plain write could replace only one part of an entity,
//! or set a sequence back.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use table_core::key::order;
use table_core::query::{KeyRange, Select, TextRange};
use table_core::{
    DynTableStore, ETag, EntityKey, IfMatch, Operation, OperationKind, PartitionKey, Query, TableName,
    TableStore, ValueRef,
};
use uuid::Uuid;

use crate::derived::part::{WRITE_ID, WidePart, part_of};
use crate::error::{Error, Result};
use crate::keys;

/// The `RowKey` prefix of a sequence's row. The sequence's name follows it.
const SEQUENCE: &str = "\u{FFFC}sequence_";
/// The property that contains the next number of a sequence.
const NEXT: &str = "Next";

/// The `WriteId` of each part of one or more wide entities, keyed by the part's RowKey.
type Parts = BTreeMap<String, Uuid>;

/// The stored rows that may be parts of the wide entities that the writes may concern.
#[derive(Default)]
struct Stored {
    parts: Parts,
    /// The ETag of each row with the RowKey of a part, also of a row without a `WriteId`, by its RowKey.
    etags: HashMap<String, ETag>,
}

/// Checks that a set of writes to a partition leaves its wide entities complete and does not set a sequence back. Returns the writes in units, each of which the
/// caller must send in one transaction. The writes to one wide entity are a unit, and so is every other write.
///
/// The writes may delete all parts of a wide entity, change properties of its parts, or replace all its parts with the parts of another write. The returned
/// writes to parts and sequences are conditional on the versions that were read, because the rows may change before the writes are sent.
///
/// # Errors
/// `Derived`, with the wide entity or the sequence, if the check fails. Any error from the store.
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
            require(&mut operation.kind, state);
        }
    }
    let Stored { parts: stored, mut etags } = read_parts(store, table, partition_key, &operations).await?;
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
        require(&mut operation.kind, etags.remove(row_key));
        match units.get_mut(at) {
            Some(unit) => unit.push(operation),
            None => units.push(vec![operation]),
        }
    }
    Ok(units)
}

/// Makes a write conditional on the state that was read: the version with this ETag, or the absence of the row. A write that has a condition keeps it.
fn require(kind: &mut OperationKind, state: Option<ETag>) {
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

/// Returns an error if a write to a sequence's row lowers or removes its next number. Otherwise, returns the ETag of the stored row, or `Some(None)` if the row
/// is not stored. Returns `None` if the write keeps the next number.
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
    let Some(table_core::Value::Int64(reached)) = stored.as_ref().and_then(|row| row.get(NEXT)) else {
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

/// Returns the `RowKey` ranges that contain the parts of the wide entities to which the written rows may belong, sorted by their lower bounds.
fn ranges(operations: &[Operation]) -> Vec<(String, String)> {
    let bases: BTreeSet<_> =
        operations.iter().filter_map(|operation| Some(part_of(operation.row_key.as_str())?.0)).collect();
    let range = |base: &str| (format!("{base}_"), format!("{base}_99"));
    let mut ranges: Vec<_> = bases.into_iter().map(range).collect();
    ranges.sort_by(|(one, _), (other, _)| order::compare(one, other));
    ranges
}

/// Reads the stored parts of the wide entities that the written rows may belong to. Sends no request if none of the rows can be a part.
///
/// On a store in key order, a query ends after a page that reaches the end of a range, and the next query begins at the next range. The number of pages is
/// therefore at most the number of ranges, plus the pages within the ranges, whatever rows are between them.
async fn read_parts(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    operations: &[Operation],
) -> Result<Stored> {
    let (mut stored, mut ranges) = (Stored::default(), ranges(operations));
    let is_ordered = store.capabilities().ordered;
    let most = ranges.iter().map(|(_, upper)| upper).max_by(|one, other| order::compare(one, other)).cloned();
    while let Some((lower, own)) = ranges.first().cloned() {
        let upper = most.clone().filter(|_| is_ordered).unwrap_or(own);
        let range = TextRange { lower: Bound::Included(lower), upper: Bound::Included(upper.clone()) };
        let keys = KeyRange::rows(partition_key.as_str(), range);
        let select = Select::names(["PartitionKey", "RowKey", WRITE_ID]);
        let (query, mut from) = (Query { select, ..Query::new(keys) }, None);
        loop {
            let page = match store.query(table, &query, from.as_ref()).await {
                // A table that does not exist has no parts.
                Err(error) if error.is_table_not_found() => return Ok(stored),
                page => page?,
            };
            for entity in page.rows.iter() {
                if part_of(entity.row_key).is_none() {
                    continue;
                }
                if let Some(part) = WidePart::of(entity)? {
                    stored.parts.insert(entity.row_key.to_owned(), part.write);
                }
                stored.etags.insert(entity.row_key.to_owned(), entity.etag());
            }
            from = page.continuation;
            let last = page.rows.iter().last().filter(|_| is_ordered).map(|entity| entity.row_key);
            let Some(last) = from.as_ref().map_or(Some(upper.as_str()), |_| last) else { continue };
            ranges.retain(|(_, upper)| order::compare(last, upper).is_lt());
            let is_within = ranges.first().is_some_and(|(lower, _)| order::compare(lower, last).is_le());
            if from.is_none() || !is_within {
                break;
            }
        }
    }
    Ok(stored)
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

/// Returns `true` if the parts were changed, and now belong to different writes or are only some of the parts of one write.
fn is_torn(before: &BTreeMap<&str, Uuid>, after: &BTreeMap<&str, Uuid>) -> bool {
    let Some(one) = after.values().next() else { return false };
    let is_mixed = after.values().any(|write| write != one);
    let is_missing = before.iter().any(|(row_key, write)| write == one && !after.contains_key(row_key));
    before != after && (is_mixed || is_missing)
}
