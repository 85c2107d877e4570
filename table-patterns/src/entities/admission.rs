//! Write admission: checks before each attempt that no program with a newer schema forbids the write.

use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::store::WriteLease;

/// A handle that checks whether the entities in a batch may be written.
pub(crate) trait AdmitWrites: Send + Sync {
    /// Checks that the entities may be written now. `is_whole` is `true` if a write removes properties unknown to this program. Returns the period in which
    /// unconditional replace operations may be sent, or `None` if the period is unlimited.
    ///
    /// # Errors
    /// `SchemaMismatch` if a program with a newer schema forbids the writes; any error from the store.
    fn admit_writes(&self, is_whole: bool) -> BoxFuture<'_, Result<Option<WriteLease>>>;
}
