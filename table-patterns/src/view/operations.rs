//! Reads and writes sums in the rows of a view.

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::operation::OperationKind;
use table_core::row::{RowView, RowWriter};
use table_core::{EdmType, Result, ValueRef};

/// Returns the sum that a property of a row contains; 0 if the property does not exist.
pub(super) fn sum_in(row: RowView<'_>, name: &str) -> Result<i64> {
    Ok(match row.find(name, &mut 0)? {
        Some(ValueRef::Int64(sum)) => sum,
        _ => 0,
    })
}

/// Returns the operation that writes the sums in one row, conditional on the version that was read. In a new row, each other sum column is set to
/// 0.
pub(super) fn sums_write<R: Entity>(sums: &[(&str, i64)], etag: Option<ETag>) -> OperationKind {
    let mut writer = RowWriter::with_capacity(sums.len());
    for (name, sum) in sums {
        writer.property(name, ValueRef::Int64(*sum));
    }
    if etag.is_none() {
        let is_new = |name: &str| sums.iter().all(|(known, _)| *known != name);
        for property in R::SCHEMA.properties {
            if property.edm == EdmType::Int64 && !property.optional && is_new(property.name) {
                writer.property(property.name, ValueRef::Int64(0));
            }
        }
    }
    match etag {
        Some(etag) => OperationKind::Merge(writer.finish(), IfMatch::ETag(etag)),
        None => OperationKind::Insert(writer.finish()),
    }
}
