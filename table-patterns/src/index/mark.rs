//! Marks of index rows that a pass is about to delete, because their entities do not require them.
//!
//! A tool that does not know the index, or a program of an older release, can give an entity the value of a left-over index row at any time, without a write of
//! this row. If a pass reads the entity before that, and deletes the row after another pass has found it correct, an entry of the index is missing. A pass
//! therefore marks the row, then reads the entity, and then deletes the row under the version of the mark.
//!
//! - A pass that found the row correct without the mark has read the entity before the mark, so the entity is read with its value after the mark.
//! - A pass that finds the marked row writes it again if the entity requires it, which changes the version.
//!
//! A marked row remains readable, also by older releases. They find that it differs from its entity, and write it again. A copy is marked by a property, and a
//! [list](crate::index::list) by a space before its members. `docs/models/backfill.rs` checks this protocol.

use table_core::etag::{ETag, IfMatch};
use table_core::operation::OperationKind;
use table_core::row::{Row, RowWriter};
use table_core::{Result, ValueRef};

/// The property of a marked copy.
const MARK: &str = "_unclaimed";

/// Returns `true` if a copy is marked.
pub(crate) fn is_marked(copy: &Row) -> Result<bool> {
    Ok(copy.view().find(MARK, &mut 0)?.is_some())
}

/// Returns the operation that marks a copy of the given version.
pub(crate) fn mark(etag: ETag) -> OperationKind {
    let mut row = RowWriter::with_capacity(1);
    row.property(MARK, ValueRef::Boolean(true));
    OperationKind::Merge(row.finish(), IfMatch::ETag(etag))
}
