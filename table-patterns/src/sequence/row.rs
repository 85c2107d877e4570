//! The row of a sequence: the next number that is free.

use std::ops::Range;

use table_core::error::{Error, ErrorCode, Result};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::value::ValueRef;

use crate::sequence::fault::SequenceFault;

/// What the `RowKey`s of sequences begin with; behind it stands the name.
const PREFIX: &str = "\u{FFFC}sequence_";
const NEXT: &str = "Next";

/// The `RowKey` of a sequence.
pub(super) fn row_key(name: &str) -> Result<RowKey> {
    if name.is_empty() {
        return Err(Error::of(SequenceFault::NoName));
    }
    RowKey::new(format!("{PREFIX}{name}"))
}

/// The numbers that are free next, and the operation that takes them if they still are.
pub(super) async fn take<S: TableStore>(
    store: &S,
    table: &TableName,
    (partition_key, row_key): (&PartitionKey, &RowKey),
    count: u64,
) -> Result<(Range<u64>, Operation)> {
    let key = EntityKey { partition_key: partition_key.clone(), row_key: row_key.clone() };
    let here = |error: Error| {
        error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
    };
    let found = store.get(table, &key, &Select::All).await?;
    let next = match &found {
        None => 1,
        Some(found) => match found.row.view().find(NEXT, &mut 0)? {
            Some(ValueRef::Int64(next)) if next > 0 => next,
            other => {
                let fault = SequenceFault::Row { property: NEXT, found: format!("{other:?}") };
                return Err(here(Error::of(fault)));
            }
        },
    };
    let Some(end) =
        i64::try_from(count).ok().filter(|count| *count > 0).and_then(|count| next.checked_add(count))
    else {
        return Err(here(Error::of(SequenceFault::Count { count, next })));
    };
    let mut row = RowWriter::with_capacity(1);
    row.property(NEXT, ValueRef::Int64(end));
    let kind = match found {
        Some(found) => OperationKind::Replace(row.finish(), IfMatch::ETag(found.etag)),
        None => OperationKind::Insert(row.finish()),
    };
    Ok((next.cast_unsigned()..end.cast_unsigned(), Operation { row_key: key.row_key, kind }))
}

/// A number as the type of the property that it is for.
pub(super) fn fit<N: TryFrom<u64>>(number: u64) -> Result<N> {
    let fault = || SequenceFault::TooLarge { number, target: std::any::type_name::<N>() };
    N::try_from(number).map_err(|_| Error::of(fault()))
}

/// Whether a write may have been refused because another writer took its numbers. Nothing was written then.
pub(super) fn is_refused(error: &Error) -> bool {
    !error.is_ambiguous() && (error.is_conflict() || error.code() == ErrorCode::UniqueViolation)
}
