//! Types without values that replace list blobs if the feature `blobs` is off.

use table_core::Result;
use table_core::key::EntityKey;
use table_core::name::TableName;

use crate::blob::BlobRef;

/// The blob store for lists. It is available only with the feature `blobs`.
#[derive(Clone, Debug)]
pub(crate) enum ListBlobs {}

/// A blob that has been uploaded for a list. No entity refers to it yet.
pub(crate) enum Upload {}

#[expect(clippy::unused_async, reason = "the signatures of the feature `blobs`")]
impl ListBlobs {
    pub(crate) fn is_beyond(&self, _: usize) -> bool {
        match *self {}
    }

    pub(crate) async fn read(&self, _: &BlobRef, _: &TableName, _: &EntityKey) -> Result<Vec<u8>> {
        match *self {}
    }

    pub(crate) async fn upload(
        &self,
        _: &TableName,
        _: &EntityKey,
        _: u64,
        _: Vec<u8>,
    ) -> Result<(BlobRef, Upload)> {
        match *self {}
    }

    pub(crate) fn check_age(&self, _: &Upload, _: u64) -> Result<()> {
        match *self {}
    }

    pub(crate) async fn discard(&self, _: &Upload) {
        match *self {}
    }
}
