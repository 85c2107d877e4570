//! Admission of writes: before each attempt, checks that no program with a newer schema has blocked the write.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::entity::Entity;
use table_core::store::TableStore;

use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;

/// A handle that knows whether the entities of a batch may be written.
pub(crate) trait AdmitWrites: Send + Sync {
    /// Checks that the entities may be written now. `is_whole` is `true` if a write removes properties that the program does not know.
    ///
    /// # Errors
    /// `SchemaMismatch` if a program with a newer schema forbids the writes; any error from the store.
    fn admit_writes(&self, is_whole: bool) -> BoxFuture<'_, Result<()>>;
}

impl<E: Entity, S: TableStore, O: StepRecorder> AdmitWrites for Entities<E, S, O> {
    fn admit_writes(&self, is_whole: bool) -> BoxFuture<'_, Result<()>> {
        self.admit(is_whole).boxed()
    }
}
