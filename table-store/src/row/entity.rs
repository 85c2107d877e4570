//! `EntityRef`: a stored entity borrowed from a page or a lookup.

use crate::etag::ETag;
use crate::row::RowView;

/// A borrowed entity from a page or a lookup: its key, encoded row and `ETag`.
///
/// ```
/// use table_core::query::EntityRef;
/// use table_core::row::RowWriter;
///
/// let row = RowWriter::new().finish();
/// let entity = EntityRef::new("Sales", "000223", row.view());
/// assert_eq!((entity.partition_key, entity.row_key), ("Sales", "000223"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EntityRef<'a> {
    /// The `PartitionKey` of the entity.
    pub partition_key: &'a str,
    /// The `RowKey` of the entity.
    pub row_key: &'a str,
    /// The encoded Timestamp and properties.
    pub row: RowView<'a>,
    etag: Option<&'a ETag>,
}

impl<'a> EntityRef<'a> {
    /// Creates an entity reference with the `ETag` derived from its Timestamp (ETAG-2).
    #[must_use]
    pub const fn new(partition_key: &'a str, row_key: &'a str, row: RowView<'a>) -> Self {
        Self { partition_key, row_key, row, etag: None }
    }

    /// Sets the `ETag` sent by the backend, which is preserved byte for byte (ETAG-4).
    #[must_use]
    pub const fn with_etag(self, etag: &'a ETag) -> Self {
        Self { etag: Some(etag), ..self }
    }

    /// Returns the entity's `ETag`.
    #[must_use]
    pub fn etag(&self) -> ETag {
        self.etag.cloned().unwrap_or_else(|| self.row.etag())
    }

    /// Returns the `ETag` sent by the backend, or `None` if the `ETag` is derived from the Timestamp.
    pub(crate) const fn sent_etag(&self) -> Option<&'a ETag> {
        self.etag
    }
}
