//! Protects wide entities and sequences from plain writes. Their schemas declare no derived rows, but a plain write could replace only one part of an entity,
//! or set a sequence back.

use std::collections::BTreeMap;
use std::ops::Bound;

use table_core::key::order;
use table_core::query::{KeyRange, Select, TextRange};
use table_core::{
    DynTableStore, EntityKey, Operation, OperationKind, PartitionKey, Query, TableName, TableStore, ValueRef,
};
use uuid::Uuid;

use crate::derived::part::{WRITE_ID, WidePart, part_of};
use crate::error::{Error, Result};
use crate::keys;

/// The `RowKey` prefix of a sequence's row. The sequence's name follows it.
const SEQUENCE: &str = "\u{FFFC}sequence_";
/// The property that contains the next number of a sequence.
const NEXT: &str = "Next";
/// A filter that selects all rows with a `WriteId` property.
const HAS_WRITE: &str = "WriteId ge guid'00000000-0000-0000-0000-000000000000'";

/// The `WriteId` of each part of one or more wide entities, keyed by the part's RowKey.
type Parts = BTreeMap<String, Uuid>;

/// Checks that a set of writes to a partition leaves its wide entities complete and does not set a sequence back.
///
/// The writes may delete all parts of a wide entity, change properties of its parts, or replace all its parts with the parts of another write.
///
/// # Errors
/// `Derived`, with the wide entity or the sequence, if the check fails. Any error from the store.
pub async fn refuse_torn_writes(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    operations: &[&Operation],
) -> Result<()> {
    for operation in operations {
        if let Some(name) = operation.row_key.as_str().strip_prefix(SEQUENCE) {
            refuse_lowered(store, table, partition_key, (name, operation)).await?;
        }
    }
    let stored = stored_parts(store, table, partition_key, operations).await?;
    let mut after = stored.clone();
    for operation in operations {
        apply(&mut after, operation)?;
    }
    let mut bases: Vec<&str> = stored.keys().filter_map(|row_key| Some(part_of(row_key)?.0)).collect();
    bases.dedup();
    match bases.into_iter().find(|base| is_torn(&of(&stored, base), &of(&after, base))) {
        None => Ok(()),
        Some(base) => Err(Error::Derived(format!(
            "the parts of the wide entity ('{partition_key}', '{base}') are written together; plain rows would leave these wrong. Keep the `{WRITE_ID}` of \
             each part, select all parts, or pass `--bypass-derived`"
        ))),
    }
}

/// Returns an error if a write to a sequence's row lowers or removes its next number.
async fn refuse_lowered(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    (name, operation): (&str, &Operation),
) -> Result<()> {
    let next = match operation.kind.row() {
        None if matches!(operation.kind, OperationKind::Check(_)) => return Ok(()),
        None => None,
        Some(row) => row.view().find(NEXT, &mut 0)?,
    };
    if next.is_none() && is_merge(&operation.kind) {
        return Ok(());
    }
    let key = EntityKey { partition_key: partition_key.clone(), row_key: operation.row_key.clone() };
    let stored = match keys::read(store, table, &key).await {
        Err(Error::Store(error)) if error.is_table_not_found() => None,
        stored => stored?,
    };
    let Some(table_core::Value::Int64(reached)) = stored.as_ref().and_then(|row| row.get(NEXT)) else {
        return Ok(());
    };
    let change = match next {
        Some(ValueRef::Int64(next)) if next >= *reached => return Ok(()),
        Some(ValueRef::Int64(next)) => format!("set it back to {next}"),
        _ => "remove it".to_owned(),
    };
    Err(Error::Derived(format!(
        "sequence `{name}` of partition '{partition_key}' has {reached} as its next number, and the write would {change}, so that the numbers are issued again; \
         plain rows would leave these wrong. Omit this row, or pass `--bypass-derived`"
    )))
}

/// Reads the stored parts of the wide entities that the written rows may belong to. Sends no request if none of the rows can be a part.
async fn stored_parts(
    store: &DynTableStore,
    table: &TableName,
    partition_key: &PartitionKey,
    operations: &[&Operation],
) -> Result<Parts> {
    let bases = operations.iter().filter_map(|operation| Some(part_of(operation.row_key.as_str())?.0));
    let bound = |end: &str| bases.clone().map(move |base| format!("{base}_{end}")).collect::<Vec<_>>();
    let lower = bound("").into_iter().min_by(|one, other| order::compare(one, other));
    let upper = bound("99").into_iter().max_by(|one, other| order::compare(one, other));
    let (Some(lower), Some(upper)) = (lower, upper) else { return Ok(Parts::new()) };
    let range = TextRange { lower: Bound::Included(lower), upper: Bound::Included(upper) };
    let keys = KeyRange::rows(partition_key.as_str(), range);
    let select = Select::names(["PartitionKey", "RowKey", WRITE_ID]);
    let query = Query { keys, select, ..Query::parse(HAS_WRITE)? };
    let (mut parts, mut from) = (Parts::new(), None);
    loop {
        let page = match store.query(table, &query, from.as_ref()).await {
            // A table that does not exist has no parts.
            Err(error) if error.is_table_not_found() => return Ok(parts),
            page => page?,
        };
        for entity in page.rows.iter() {
            if let Some(part) = WidePart::of(entity)? {
                parts.insert(entity.row_key.to_owned(), part.write);
            }
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(parts);
        }
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

/// Returns `true` if the parts were changed, and now belong to different writes or are only some of the parts of one write.
fn is_torn(before: &BTreeMap<&str, Uuid>, after: &BTreeMap<&str, Uuid>) -> bool {
    let Some(one) = after.values().next() else { return false };
    let is_mixed = after.values().any(|write| write != one);
    let is_missing = before.iter().any(|(row_key, write)| write == one && !after.contains_key(row_key));
    before != after && (is_mixed || is_missing)
}

#[cfg(test)]
mod tests {
    use table_core::limits::Limits;
    use table_core::{BlockOn, Engine, IfMatch, RowKey, TableEntity, Transaction, Value};

    use super::*;

    fn part(row_key: &str, write: u128) -> TableEntity {
        TableEntity::new("p", row_key).unwrap().with("WriteId", Value::Guid(Uuid::from_u128(write)))
    }

    fn sequence(next: i64) -> TableEntity {
        TableEntity::new("p", "\u{FFFC}sequence_orders").unwrap().with("Next", next)
    }

    fn plain(row_key: &str) -> TableEntity {
        TableEntity::new("p", row_key).unwrap().with("Age", 1)
    }

    fn replace(entity: &TableEntity) -> (RowKey, OperationKind) {
        (entity.key().row_key.clone(), OperationKind::InsertOrReplace(entity.to_row().unwrap()))
    }

    fn merge(entity: &TableEntity) -> (RowKey, OperationKind) {
        (entity.key().row_key.clone(), OperationKind::InsertOrMerge(entity.to_row().unwrap()))
    }

    fn delete(row_key: &str) -> (RowKey, OperationKind) {
        (RowKey::new(row_key).unwrap(), OperationKind::Delete(IfMatch::Any))
    }

    /// Returns `true` if the guard rejects the writes.
    fn is_refused(writes: Vec<(RowKey, OperationKind)>) -> bool {
        let operations: Vec<_> =
            writes.into_iter().map(|(row_key, kind)| Operation { row_key, kind }).collect();
        async {
            let engine = Engine::in_memory();
            let (store, name) = (DynTableStore::new(engine), TableName::new("Things").unwrap());
            store.create_table(&name).await.unwrap();
            let mut stored = Transaction::new(PartitionKey::new("p").unwrap(), Limits::PORTABLE).unwrap();
            for row in [part("a_01", 1), part("a_02", 1), part("b_01", 7), sequence(9), plain("c_01")] {
                let (row_key, kind) = replace(&row);
                stored.push(Operation { row_key, kind }).unwrap();
            }
            store.submit(&name, stored).await.unwrap();
            let operations: Vec<_> = operations.iter().collect();
            match refuse_torn_writes(&store, &name, &PartitionKey::new("p").unwrap(), &operations).await {
                Ok(()) => false,
                Err(Error::Derived(_)) => true,
                Err(error) => panic!("{error}"),
            }
        }
        .block_on()
    }

    #[test]
    fn writes_that_keep_entities_whole_are_accepted() {
        for (at, writes) in [
            vec![delete("a_01"), delete("a_02")],
            vec![delete("b_01")],
            vec![delete("c_01"), replace(&plain("c_02"))],
            vec![replace(&part("a_02", 1).with("Age", 3))],
            vec![merge(&plain("a_02"))],
            vec![replace(&plain("a_07"))],
            vec![replace(&part("a_03", 1))],
            vec![replace(&part("a_01", 2)), replace(&part("a_02", 2))],
            vec![replace(&part("a_01", 2)), delete("a_02")],
            vec![replace(&part("d_01", 2))],
            vec![replace(&sequence(9)), merge(&plain("\u{FFFC}sequence_orders"))],
            vec![replace(&sequence(10))],
        ]
        .into_iter()
        .enumerate()
        {
            assert!(!is_refused(writes), "{at}");
        }
    }

    #[test]
    fn writes_that_tear_an_entity_or_set_a_sequence_back_are_refused() {
        for (at, writes) in [
            vec![delete("a_01")],
            vec![delete("b_01"), delete("a_02")],
            vec![replace(&part("a_02", 2))],
            vec![merge(&part("a_02", 2))],
            vec![replace(&plain("a_02"))],
            vec![replace(&part("a_03", 2))],
            vec![replace(&part("a_01", 2)), replace(&part("a_02", 3))],
            vec![replace(&sequence(8))],
            vec![merge(&sequence(8))],
            vec![replace(&plain("\u{FFFC}sequence_orders"))],
            vec![delete("\u{FFFC}sequence_orders")],
        ]
        .into_iter()
        .enumerate()
        {
            assert!(is_refused(writes), "{at}");
        }
    }
}
