//! Marks on index rows that a pass is about to delete because no entity requires them.
//!
//! A tool that does not know the index, or a program built from an older release, can give an entity the value of a left-over index row at any time without
//! writing the row. If a pass reads the entity before this change, and deletes the row after another pass has found it correct, the index loses an entry. A
//! pass therefore marks the row, then reads the entity, and then deletes the row on the condition that it still has the marked version.
//!
//! - A pass that found the row correct and unmarked read the entity before the row was marked. The read after the mark therefore returns the entity with its
//!   new value.
//! - A pass that finds a marked row rewrites it if the entity requires it, which changes the row's version.
//!
//! A marked row remains readable, even by older releases. A copy is marked by a property, and a [list](crate::index::list) by a space before its members. An
//! older release rewrites a marked copy, because it differs from the entity, but not a marked list. A row without room for the mark is deleted unmarked.
//! `docs/models/backfill.rs` checks this protocol.

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
