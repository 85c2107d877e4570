//! Rewriting of rows. Properties that the program does not know are preserved.

use crate::error::Result;
use crate::row::{Row, RowView, RowWriter};

/// Returns `true` if a property of `before` is absent from `after`. Such a property can only be removed with a replace, because a merge keeps it (MRG-3).
///
/// ```
/// use table_core::ValueRef;
/// use table_core::row::{RowWriter, removes};
///
/// let mut before = RowWriter::new();
/// before.property("Age", ValueRef::Int32(34));
/// let (before, after) = (before.finish(), RowWriter::new().finish());
/// assert!(removes(before.view(), after.view())? && !removes(after.view(), before.view())?);
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// # Errors
/// `Corrupted` if the bytes are not a row.
pub fn removes(before: RowView<'_>, after: RowView<'_>) -> Result<bool> {
    let mut hint = 0;
    for property in before.properties() {
        if after.find(property?.name, &mut hint)?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `after` together with the stored properties that neither `before` nor `after` contains.
///
/// ```
/// use table_core::ValueRef;
/// use table_core::row::{RowWriter, rewrite};
///
/// let row = |names: &[&str]| {
///     let mut writer = RowWriter::new();
///     names.iter().for_each(|name| writer.property(name, ValueRef::Int32(1)));
///     writer.finish()
/// };
/// let (stored, before, after) = (row(&["A", "B", "Other"]), row(&["A", "B"]), row(&["A"]));
/// assert_eq!(rewrite(stored.view(), before.view(), after.view())?, row(&["A", "Other"]));
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// # Errors
/// `Corrupted` if the bytes are not a row.
pub fn rewrite(stored: RowView<'_>, before: RowView<'_>, after: RowView<'_>) -> Result<Row> {
    let mut row = RowWriter::with_capacity(stored.len().max(after.len()));
    for property in after.properties() {
        let property = property?;
        row.property(property.name, property.value);
    }
    let (mut in_before, mut in_after) = (0, 0);
    for property in stored.properties() {
        let property = property?;
        if before.find(property.name, &mut in_before)?.is_none()
            && after.find(property.name, &mut in_after)?.is_none()
        {
            row.property(property.name, property.value);
        }
    }
    Ok(row.finish())
}
