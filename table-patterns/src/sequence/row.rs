//! The row that stores a sequence: the next free number, and the name of the owning entity type.

use std::ops::Range;

use table_core::etag::IfMatch;
use table_core::key::RowKey;
use table_core::operation::{Operation, OperationKind};
use table_core::row::{RowView, RowWriter};
use table_core::store::StoredRow;
use table_core::{Error, Result, ValueRef};

use crate::sequence::fault::SequenceFault;

/// The prefix of the `RowKey` of a sequence. The sequence's name follows it.
pub(crate) const PREFIX: &str = "\u{FFFC}sequence_";
const NEXT: &str = "Next";
const OWNER: &str = "Owner";

/// Returns the `RowKey` of the sequence with the given name.
pub(super) fn row_key(name: &str) -> Result<RowKey> {
    if name.is_empty() {
        return Err(Error::of(SequenceFault::NoName));
    }
    RowKey::new(format!("{PREFIX}{name}"))
}

/// Allocates the next `count` numbers of the sequence. Returns the numbers and the write that reserves them.
///
/// # Errors
/// - `Corrupted` if the stored row is not a valid sequence row.
/// - `SchemaMismatch` if the sequence belongs to a different entity type.
/// - `InvalidInput` if `count` is 0, or if the next free number would exceed `i64::MAX`.
pub(super) fn take(
    found: Option<StoredRow>,
    (row_key, owner): (&RowKey, &'static str),
    count: u64,
) -> Result<(Range<u64>, Operation)> {
    let next = next(found.as_ref())?;
    check_owner(found.as_ref(), owner)?;
    let Some(end) =
        i64::try_from(count).ok().filter(|count| *count > 0).and_then(|count| next.checked_add(count))
    else {
        return Err(Error::of(SequenceFault::Count { count, next }));
    };
    Ok((next.cast_unsigned()..end.cast_unsigned(), write(found, (row_key, owner), end)))
}

/// Returns the operation that sets the next number and makes `owner` the sequence's entity type.
///
/// # Errors
/// `InvalidInput` if the number is 0 or above `i64::MAX`.
pub(super) fn set(
    found: Option<StoredRow>,
    (row_key, owner): (&RowKey, &'static str),
    number: u64,
) -> Result<Operation> {
    let next = i64::try_from(number).ok().filter(|next| *next > 0);
    let next = next.ok_or_else(|| Error::of(SequenceFault::Next(number)))?;
    Ok(write(found, (row_key, owner), next))
}

/// Returns the next number from the stored row, or 1 if no row is stored.
fn next(found: Option<&StoredRow>) -> Result<i64> {
    let Some(found) = found else { return Ok(1) };
    match found.row.view().find(NEXT, &mut 0)? {
        Some(ValueRef::Int64(next)) if next > 0 => Ok(next),
        other => Err(Error::of(SequenceFault::Row { property: NEXT, found: format!("{other:?}") })),
    }
}

/// Checks that the stored row, if any, belongs to the entity type.
fn check_owner(found: Option<&StoredRow>, entity: &'static str) -> Result<()> {
    let Some(found) = found else { return Ok(()) };
    let owner = match found.row.view().find(OWNER, &mut 0)? {
        Some(ValueRef::String(owner)) => owner.to_owned(),
        _ => String::new(),
    };
    if owner == entity { Ok(()) } else { Err(Error::of(SequenceFault::OtherOwner { owner, entity })) }
}

/// Returns the operation that writes the row. It requires the version that was read.
fn write(found: Option<StoredRow>, (row_key, owner): (&RowKey, &str), next: i64) -> Operation {
    let mut row = RowWriter::with_capacity(2);
    row.property(NEXT, ValueRef::Int64(next));
    row.property(OWNER, ValueRef::String(owner));
    let kind = match found {
        Some(found) => OperationKind::Replace(row.finish(), IfMatch::ETag(found.etag)),
        None => OperationKind::Insert(row.finish()),
    };
    Operation { row_key: row_key.clone(), kind }
}

/// Returns `true` if replacing a sequence's row `stored` with `row` would lower or remove its next number.
pub(crate) fn sets_sequence_back(row_key: &str, stored: RowView<'_>, row: RowView<'_>) -> Result<bool> {
    let next = |row: RowView<'_>| match row.find(NEXT, &mut 0) {
        Ok(Some(ValueRef::Int64(next))) => Ok(Some(next)),
        other => other.map(|_| None),
    };
    Ok(row_key.starts_with(PREFIX) && next(row)? < next(stored)?)
}

/// Converts a number to the type of the field that stores it.
pub(super) fn convert<N: TryFrom<u64>>(number: u64) -> Result<N> {
    let fault = || SequenceFault::TooLarge { number, target: std::any::type_name::<N>() };
    N::try_from(number).map_err(|_| Error::of(fault()))
}

/// Converts the ends of a range to the type of the field that stores its numbers.
pub(super) fn convert_all<N: TryFrom<u64>>(numbers: Range<u64>) -> Result<Range<N>> {
    Ok(convert(numbers.start)?..convert(numbers.end)?)
}
