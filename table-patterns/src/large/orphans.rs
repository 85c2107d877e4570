//! Collects orphaned blobs, to which no entity of a table refers.

use table_core::Result;
use table_core::store::TableStore;

use crate::blob::{Collected, Orphans};
use crate::entities::StepRecorder;
use crate::large::{Large, LargeTable};

impl<E: Large + Send + Sync, S: TableStore, O: StepRecorder> LargeTable<E, S, O> {
    /// Removes blobs that have been unreferenced for a grace period, and marks newly found orphans. Call this function periodically.
    ///
    /// This function may run concurrently with writers, readers and other collectors. After an interruption, simply run it again: existing marks are used.
    ///
    /// A blob is in use if any property of its entity contains its address. Blobs of fields that this program does not know are therefore kept, and so are the
    /// blobs of an unreadable entity. Blobs whose names have a different format are ignored.
    ///
    /// # Errors
    /// Any error from the table or the blob store. A missing table is also an error, because a wrong table name must not turn all blobs into orphans.
    pub async fn collect_orphans(&self) -> Result<Collected> {
        let folder = self.store.folder(self.table().name()?)?;
        Orphans { folder, store: self.table().store(), now: &|| self.clock.now() }.collect().await
    }
}
