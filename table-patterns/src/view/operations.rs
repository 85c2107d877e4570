//! Reads and writes sums in the rows of a view.

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::operation::OperationKind;
use table_core::row::{RowView, RowWriter};
use table_core::store::StoredRow;
use table_core::{EdmType, Result, ValueRef};

/// Returns the sum stored in a row's property; 0 if the property does not exist.
pub(super) fn sum_in(row: RowView<'_>, name: &str) -> Result<i64> {
    Ok(match row.find(name, &mut 0)? {
        Some(ValueRef::Int64(sum)) => sum,
        _ => 0,
    })
}

/// The row currently stored under the key of a row of sums.
pub(super) enum SumRow<'a> {
    Absent,
    Sums(&'a StoredRow),
    /// A row put by an entity. Its properties are not sums.
    Other(ETag),
}

impl SumRow<'_> {
    /// Returns the sum stored in a property; 0 if the row contains no sums.
    pub(super) fn sum(&self, name: &str) -> Result<i64> {
        match self {
            Self::Sums(found) => sum_in(found.row.view(), name),
            Self::Absent | Self::Other(_) => Ok(0),
        }
    }
}

/// Returns the operation that writes the sums in one row, conditional on the version that was read. If the row is new or replaces a put row, all other sum
/// columns are set to 0.
pub(super) fn sums_write<R: Entity>(sums: &[(&str, i64)], stored: &SumRow<'_>) -> OperationKind {
    let mut writer = RowWriter::with_capacity(sums.len());
    for (name, sum) in sums {
        writer.property(name, ValueRef::Int64(*sum));
    }
    if !matches!(stored, SumRow::Sums(_)) {
        let is_new = |name: &str| sums.iter().all(|(known, _)| *known != name);
        for property in R::SCHEMA.properties {
            if property.edm == EdmType::Int64 && !property.optional && is_new(property.name) {
                writer.property(property.name, ValueRef::Int64(0));
            }
        }
    }
    match stored {
        SumRow::Sums(found) => OperationKind::Merge(writer.finish(), IfMatch::ETag(found.etag.clone())),
        SumRow::Other(etag) => OperationKind::Replace(writer.finish(), IfMatch::ETag(etag.clone())),
        SumRow::Absent => OperationKind::Insert(writer.finish()),
    }
}
