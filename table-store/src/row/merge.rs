//! Merge of a patch into a row (MRG-1).

use crate::error::Result;
use crate::row::{Row, RowView, RowWriter};

/// Returns the row with the patch's properties added or replaced, possibly with another type (TYPE-12); all others are kept (MRG-1).
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
