//! The blobs with parts in the current push, or in a push that may be repeated.

use std::collections::BTreeMap;

use crate::tenant::open_blob::OpenBlob;

/// The blobs for which an import has received parts.
#[derive(Default)]
pub(super) struct IncomingBlobs {
    /// The blob that received the most recent part.
    open: Option<OpenBlob>,
    /// Earlier blobs with parts in the current push, or in failed pushes since the last successful one. If a push is repeated, the parts already written are
    /// skipped.
    closed: BTreeMap<String, OpenBlob>,
}

impl IncomingBlobs {
    /// Ends a push that has succeeded.
    pub(super) fn end_push(&mut self) {
        self.closed.clear();
    }

    /// Begins a blob with its first part. Discards the uploaded parts of the previous blob if that blob is incomplete.
    pub(super) async fn begin(&mut self, begun: OpenBlob) {
        self.closed.remove(&begun.name);
        let earlier = self.open.replace(begun);
        let Some(mut earlier) = earlier else { return };
        let writer = earlier.close();
        if !self.is_open(&earlier.name) {
            self.closed.insert(earlier.name.clone(), earlier);
        }
        // IMPORTANT: the push may be dropped during this request, so this request is the last step.
        if let Some(writer) = writer {
            writer.abort().await;
        }
    }

    /// Returns the blob with the given name if an earlier part of it has been pushed.
    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut OpenBlob> {
        if self.is_open(name) { self.open.as_mut() } else { self.closed.get_mut(name) }
    }

    fn is_open(&self, name: &str) -> bool {
        self.open.as_ref().is_some_and(|open| open.name == name)
    }
}
