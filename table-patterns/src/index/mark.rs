//! Marks on index rows that a check or a backfill is about to delete, because no entity requires them.
//!
//! A leftover index row may become correct at any time without a write of the row: a tool that does not know the index, or a program of an older release, can
//! give an entity the row's value. Suppose that one pass reads the entity before this change, and another pass finds the row correct after it. If the first
//! pass then deleted the row, the index would lose an entry.
//!
//! To prevent this, a pass first marks the row, then reads the entity, and then deletes the row, provided that the row still has the marked version.
//!
//! - If another pass has found the row correct and unmarked, the entity had its new value before the row was marked. The read after the mark therefore returns
//!   the new value.
//! - If a pass finds a marked row that an entity requires, it rewrites the row, which changes the row's version.
//!
//! A marked row remains readable. A property marks a copy, and a space before the members marks a [list](crate::index::list). A row without room for the mark is
//! deleted without one. `docs/models/backfill.rs` checks this protocol.

use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::operation::OperationKind;
use table_core::row::{Row, RowWriter, entity_bytes, merge};
use table_core::schema::UNCLAIMED;
use table_core::{Result, ValueRef};

/// Returns `true` if a copy is marked.
pub(crate) fn is_marked(copy: &Row) -> Result<bool> {
    Ok(copy.view().find(UNCLAIMED, &mut 0)?.is_some())
}

/// Returns the operation that marks a copy with the given version.
pub(crate) fn mark(etag: ETag) -> OperationKind {
    OperationKind::Merge(unclaimed(), IfMatch::ETag(etag))
}

/// Returns `true` if the copy at a key has room for the mark.
pub(crate) fn has_room(key: &EntityKey, copy: &Row, limits: &Limits) -> Result<bool> {
    let marked = merge(copy.view(), unclaimed().view())?;
    let bytes = entity_bytes(key.partition_key.as_str(), key.row_key.as_str(), Some(&marked));
    Ok(marked.view().len() <= limits.properties && limits.check_entity_bytes(bytes).is_ok())
}

/// Returns a row that contains only the mark.
fn unclaimed() -> Row {
    let mut row = RowWriter::with_capacity(1);
    row.property(UNCLAIMED, ValueRef::Boolean(true));
    row.finish()
}
