//! The canonical encoded row: one entity's Timestamp and properties in one run of bytes (`docs/format.md`, "Row").
//!
//! A [`Row`] owns such bytes, a [`RowView`] looks into them, a [`RowWriter`] makes them, [`merge`] combines two. A filter,
//! a projection or one property is read from the directories without decoding the rest. The names and types of a row lie apart
//! from its values, so that rows of one program share them.

mod check;
mod duplicate;
mod entity;
pub(crate) mod fault;
mod merge;
mod reader;
mod rewrite;
mod shape;
mod view;
mod writer;

use std::sync::Arc;

pub(crate) use check::duplicate_property;
pub use check::entity_bytes;
pub(crate) use duplicate::Names;
pub use entity::EntityRef;
pub use merge::merge;
pub use reader::Reader;
pub use rewrite::{removes, rewrite};
#[doc(hidden)]
pub use shape::Shape;
pub use view::{Property, RowView};
pub use writer::RowWriter;

/// Version of the row format that is written.
pub const VERSION: u8 = 1;
/// Version of a row that was given over 65,535 properties; like the next two it is refused by every store.
pub(crate) const TOO_MANY: u8 = 0xFD;
/// Version of a row that was given names over 16 MiB together.
pub(crate) const NAME_TOO_LONG: u8 = 0xFE;
/// Version of a row that was given over 4 GiB.
pub(crate) const TOO_LARGE: u8 = 0xFF;
/// Bytes of a shape before its directory: version, 0, number of properties.
pub(crate) const SHAPE_HEADER: usize = 4;
/// Bytes of a body before its directory: Timestamp.
pub(crate) const BODY_HEADER: usize = 8;
/// Bytes of one entry of either directory.
pub(crate) const ENTRY: usize = 4;
/// The most bytes that all names of a row have: what the 24 bits of an entry can say.
pub(crate) const NAMES: u32 = (1 << 24) - 1;

/// An encoded row that owns its bytes; clones share them.
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
    /// Takes bytes read from a store. They are checked where they are looked into, not here.
    #[must_use]
    pub fn from_bytes(bytes: Arc<[u8]>) -> Self {
        Self(bytes)
    }

    /// The row of a shape and a body that lie apart.
    fn of(shape: &[u8], body: &[u8]) -> Self {
        // One allocation: through a `Vec` there are two, and the bytes are copied twice.
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, shape.len() + body.len()).collect();
        if let Some((front, back)) =
            Arc::get_mut(&mut bytes).and_then(|all| all.split_at_mut_checked(shape.len()))
        {
            front.copy_from_slice(shape);
            back.copy_from_slice(body);
        }
        Self(bytes)
    }

    /// Looks into the row.
    #[must_use]
    pub fn view(&self) -> RowView<'_> {
        RowView::new(&self.0)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, shared.
    #[must_use]
    pub fn into_bytes(self) -> Arc<[u8]> {
        self.0
    }

    /// The same row with another Timestamp, in [ticks](crate::ticks). Bytes too short to be a row stay as they are.
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
