//! The view's cursors in the feeds of its source. All changes before a cursor have been applied.

use table_core::Result;
use table_core::etag::ETag;
use table_core::key::PartitionKey;
use table_core::store::TableStore;

use crate::converge::upsert;
use crate::feed::Cursor;
use crate::view::View;
use crate::view::record;
use crate::view::table::ViewTable;

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Returns the view's cursor in a partition's feed: all changes before it have been applied.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn position(&self, partition_key: &PartitionKey) -> Result<Cursor> {
        Ok(self.stored_position(partition_key).await?.0)
    }

    /// Returns the view's cursor in a partition's feed, and the version of the row that stores it.
    pub(super) async fn stored_position(
        &self,
        partition_key: &PartitionKey,
    ) -> Result<(Cursor, Option<ETag>)> {
        let key = record::cursor_key(partition_key)?;
        let Some(found) = self.stored(&key).await? else { return Ok((Cursor::default(), None)) };
        Ok((record::read_position(found.row.view()), Some(found.etag)))
    }

    /// Returns `true` if another process has moved the view's cursor in a partition's feed since the cursor was read.
    ///
    /// A trim never removes changes after the cursor. If such changes are missing although the cursor has not been moved, no process has applied them.
    pub(super) async fn has_moved(&self, partition_key: &PartitionKey, etag: Option<&ETag>) -> Result<bool> {
        Ok(self.stored_position(partition_key).await?.1.as_ref() != etag)
    }

    /// Moves the view's cursor in a partition's feed. Returns `false` if another process has moved the cursor since it was read.
    pub(super) async fn move_cursor(
        &self,
        partition_key: &PartitionKey,
        to: &Cursor,
        etag: Option<ETag>,
    ) -> Result<bool> {
        let key = record::cursor_key(partition_key)?;
        self.submit(&key.partition_key, vec![(key.row_key, upsert(record::write_position(to)?, etag))]).await
    }
}
