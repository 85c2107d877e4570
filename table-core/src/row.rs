//! The canonical encoded row: one entity's Timestamp and properties in one run of bytes (`docs/format.md`, "Row").
//!
//! A [`Row`] owns such bytes, a [`RowView`] looks into them, a [`RowWriter`] makes them, [`merge`] combines two. A filter,
//! a projection or one property is read from the directory at the front without decoding the rest.

mod check;
mod duplicate;
mod merge;
mod reader;
mod rewrite;
mod view;
mod writer;

use std::sync::Arc;

pub(crate) use check::duplicate_property;
pub use check::entity_bytes;
pub(crate) use duplicate::Names;
pub use merge::merge;
pub use reader::Reader;
pub use rewrite::{removes, rewrite};
pub use view::{Property, RowView};
pub use writer::RowWriter;

/// Version of the row format that is written.
pub const VERSION: u8 = 1;
/// Version of a row that was given over 65,535 properties; like the next two it is refused by every store.
pub(crate) const TOO_MANY: u8 = 0xFD;
/// Version of a row that was given a name over 65,535 bytes.
pub(crate) const NAME_TOO_LONG: u8 = 0xFE;
/// Version of a row that was given over 4 GiB.
pub(crate) const TOO_LARGE: u8 = 0xFF;
/// Bytes before the directory: version, Timestamp, number of properties.
pub(crate) const HEADER: usize = 11;
/// Bytes of one directory entry.
pub(crate) const ENTRY: usize = 8;

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
        let mut bytes = self.0;
        let stamp = |bytes: &mut [u8]| {
            if let Some(place) = bytes.get_mut(1..9) {
                place.copy_from_slice(&ticks.to_le_bytes());
            }
        };
        if let Some(unique) = Arc::get_mut(&mut bytes) {
            stamp(unique);
            return Self(bytes);
        }
        let mut copy = bytes.to_vec();
        stamp(&mut copy);
        Self(copy.into())
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view().fmt(f)
    }
}

#[cfg(test)]
pub(crate) mod tests;
