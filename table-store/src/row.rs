//! Encoded rows: the Timestamp and properties of an entity as a sequence of bytes (`docs/format.md`, "Row").
//!
//! A [`Row`] owns the bytes, a [`RowView`] reads them, a [`RowWriter`] creates them, and [`merge`] combines two rows. Directories contain the end offsets of
//! the names and values, so filters, projections and lookups can read a single property without decoding the rest.
//!
//! The *shape* of a row (names and types) precedes its *body* (Timestamp and values). The shape can be stored separately, so that rows of the same type share
//! one copy.

mod check;
mod duplicate;
pub(crate) mod entity;
pub(crate) mod fault;
mod merge;
mod reader;
mod rewrite;
mod view;
mod writer;

use std::sync::Arc;

pub(crate) use check::duplicate_property;
pub use check::entity_bytes;
pub(crate) use duplicate::Names;
pub(crate) use entity::EntityRef;
pub use merge::merge;
pub use reader::RowReader;
pub use rewrite::{removes, rewrite};
pub use view::{Property, RowView};
pub use writer::RowWriter;

/// The row format version written by this program.
pub const VERSION: u8 = 1;
/// The version byte that marks a row with more than 65,535 properties. Every store rejects rows marked `TOO_MANY`, `NAME_TOO_LONG` or `TOO_LARGE`.
pub(crate) const TOO_MANY: u8 = 0xFD;
/// The version byte that marks a row with more than 16 MiB of names.
pub(crate) const NAME_TOO_LONG: u8 = 0xFE;
/// The version byte that marks a row with more than 4 GiB of values.
pub(crate) const TOO_LARGE: u8 = 0xFF;
/// The size of the header before a shape's directory: the version, a zero byte, and the number of properties.
pub(crate) const SHAPE_HEADER: usize = 4;
/// The size of the header before a body's directory: the Timestamp.
pub(crate) const BODY_HEADER: usize = 8;
/// The size of a directory entry.
pub(crate) const ENTRY: usize = 4;
/// The maximum total size of a row's names, in bytes. A directory entry stores the end offset of a name in 24 bits.
pub(crate) const NAMES: u32 = (1 << 24) - 1;

/// An encoded row that owns its bytes. Clones share the bytes.
///
/// ```
/// use table_core::row::RowWriter;
/// use table_core::ValueRef;
///
/// let mut writer = RowWriter::new();
/// writer.property("FirstName", ValueRef::String("Ada"));
/// writer.property("Age", ValueRef::Int32(34));
/// let row = writer.finish();
/// let age = row.view().find("Age", &mut 0)?;
/// assert_eq!(age, Some(ValueRef::Int32(34)));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Row(Arc<[u8]>);

impl Row {
    /// Wraps bytes read from a store. The bytes are checked on access, not here.
    #[must_use]
    pub fn from_bytes(bytes: Arc<[u8]>) -> Self {
        Self(bytes)
    }

    /// Creates a row from a separate shape and body.
    fn of(shape: &[u8], body: &[u8]) -> Self {
        // The bytes are allocated once. A `Vec` would require two allocations and copy the bytes twice.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, shape.len() + body.len()).collect();
        if let Some((front, back)) =
            Arc::get_mut(&mut bytes).and_then(|all| all.split_at_mut_checked(shape.len()))
        {
            front.copy_from_slice(shape);
            back.copy_from_slice(body);
        }
        Self(bytes)
    }

    /// Returns a view of the row.
    #[must_use]
    pub fn view(&self) -> RowView<'_> {
        RowView::new(&self.0)
    }

    /// Returns the encoded row as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the row's shared bytes.
    #[must_use]
    pub fn into_bytes(self) -> Arc<[u8]> {
        self.0
    }

    /// Sets the row's Timestamp, in [ticks](crate::ticks). Bytes that are too short to be a row are returned unchanged.
    #[must_use]
    pub fn with_timestamp(self, ticks: u64) -> Self {
        let at = self.view().parts().0.len();
        let mut bytes = self.0;
        if let Some(place) = Arc::make_mut(&mut bytes).get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *place = ticks.to_le_bytes();
        }
        Self(bytes)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view().fmt(f)
    }
}

#[cfg(test)]
pub(crate) mod tests;
