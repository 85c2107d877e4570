//! The blobs with parts in the current push, or in a push that may be repeated.

use std::collections::BTreeMap;

use crate::tenant::line::BlobLine;
use crate::tenant::open_blob::OpenBlob;

/// The blobs for which an import has received parts.
#[derive(Default)]
pub(super) struct IncomingBlobs {
    /// The blob that received the most recent part.
    open: Option<OpenBlob>,
    /// Earlier blobs with parts in the current push, or in failed pushes since the last successful one. If a push is repeated, the parts already written are
    /// skipped.
    closed: BTreeMap<String, OpenBlob>,
    /// The name of the blob that received the most recent part, and the offset of its next part; `None` if that blob is complete. An export from an earlier
    /// release contains no offsets.
    next: Option<(String, u64)>,
    /// The value of `next` at the end of the last successful push.
    pushed: Option<(String, u64)>,
}

impl IncomingBlobs {
    /// Begins a push. It may repeat a push that failed or was dropped.
    pub(super) fn begin_push(&mut self) {
        self.next.clone_from(&self.pushed);
    }

    /// Ends a push that has succeeded.
    pub(super) fn end_push(&mut self) {
        self.pushed.clone_from(&self.next);
        self.closed.clear();
    }

    /// Returns the offset of a part in its blob. A part without an offset follows the previous part.
    pub(super) fn offset(&mut self, part: &BlobLine, length: usize) -> u64 {
        let next = self.next.take().filter(|(name, _)| *name == part.name);
        let from = part.from.or_else(|| next.map(|(_, at)| at)).unwrap_or_default();
        let to = from.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        self.next = (!part.last).then(|| (part.name.clone(), to));
        from
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
