//! Replaces the blob import in builds without the `blobs` feature. Such builds refuse blobs.

use table_core::{Error, Result};

use crate::tenant::fault::TenantFault;
use crate::tenant::import::Import;
use crate::tenant::line::BlobLine;

impl Import<'_> {
    /// Returns an error, because this program was built without the `blobs` feature.
    #[expect(clippy::unused_async, reason = "the signature of the feature `blobs`")]
    pub(super) async fn blob(&mut self, _: u64, part: BlobLine) -> Result<bool> {
        Err(Error::of(TenantFault::UnknownBlob(part.name)))
    }
}
