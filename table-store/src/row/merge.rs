//! Merging a patch into a row (MRG-1).

use std::sync::Arc;

use crate::error::Result;
use crate::row::view::is_same_name;
use crate::row::{Row, RowView, RowWriter};

/// Returns the row with the patch's properties added, or replaced if the row already has them. The type of a property may change (TYPE-12). Properties that are
/// absent from the patch are kept (MRG-1).
///
/// # Errors
/// `Corrupted` if either argument is not a row.
///
/// ```
/// use table_core::ValueRef;
/// use table_core::row::{RowWriter, merge};
///
/// let (mut stored, mut patch) = (RowWriter::new(), RowWriter::new());
/// stored.property("Age", ValueRef::Int32(34));
/// stored.property("Title", ValueRef::String("Rep"));
/// patch.property("Age", ValueRef::Int64(35));
/// let merged = merge(stored.finish().view(), patch.finish().view())?;
/// assert_eq!(merged.view().at(0)?.value, ValueRef::Int64(35));
/// assert_eq!(merged.view().at(1)?.value, ValueRef::String("Rep"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn merge(row: RowView<'_>, patch: RowView<'_>) -> Result<Row> {
    if let Some(merged) = overwritten(row, patch) {
        return Ok(merged);
    }
    let mut merged = RowWriter::with_capacity(row.len() + patch.len());
    let mut hint = 0;
    for property in row.properties() {
        let property = property?;
        let value = patch.find(property.name, &mut hint)?.unwrap_or(property.value);
        merged.property(property.name, value);
    }
    let mut hint = 0;
    for property in patch.properties() {
        let property = property?;
        if row.find(property.name, &mut hint)?.is_none() {
            merged.property(property.name, property.value);
        }
    }
    Ok(merged.finish())
}

/// Returns a copy of the row with the patched values overwritten in place. Returns `None` unless the row already has every property of the patch with the same
/// type and size.
///
/// This is a fast path for wide rows. For example, a row of account balances has hundreds of numbers, and a posting changes only two.
fn overwritten(row: RowView<'_>, patch: RowView<'_>) -> Option<Row> {
    row.check_version().and(patch.check_version()).ok()?;
    let (mut values, mut next) = (Vec::with_capacity(patch.len()), 0);
    for index in 0..patch.len() {
        // `merge` reports an invalid value in the patch.
        patch.at(index).ok()?;
        let ((tag, name), value) = (patch.label(index)?, patch.values()?.get(patch.place(index)?)?);
        let is_found = |(found_tag, found)| found_tag == tag && is_same_name(found, name);
        let found = (next..row.len()).chain(0..next).find(|found| row.label(*found).is_some_and(is_found))?;
        values.push((row.place(found).filter(|place| place.len() == value.len())?, value));
        next = found + 1;
    }
    let Row(mut bytes) = row.to_row().with_timestamp(0);
    let merged = Arc::get_mut(&mut bytes)?;
    let start = merged.len() - row.values()?.len();
    for (place, value) in values {
        merged.get_mut(start..)?.get_mut(place)?.copy_from_slice(value);
    }
    Some(Row(bytes))
}
