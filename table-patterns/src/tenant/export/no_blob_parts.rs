//! Replaces the blob export in builds without the `blobs` feature. Such builds export no blobs.

use std::collections::VecDeque;

use table_core::Result;
use table_core::name::TableName;
use table_core::query::EntityRef;

use crate::tenant::export::Export;
use crate::tenant::place::Place;

/// An uninhabited type, because exports without the `blobs` feature contain no blob parts.
#[derive(Debug)]
pub(in crate::tenant) enum Part {}

impl Export<'_> {
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the signature of the feature `blobs`")]
    pub(super) fn parts(
        &self,
        _: (&Place, &TableName),
        _: EntityRef<'_>,
        _: &mut VecDeque<Part>,
    ) -> Result<u64> {
        Ok(0)
    }

    #[expect(clippy::unused_async, reason = "the signature of the feature `blobs`")]
    pub(super) async fn next_part(&mut self) -> Result<Option<String>> {
        Ok(None)
    }
}
