//! The state of a backfill's pass over an index between two pages, as recorded in the stored schema.

use serde::{Deserialize, Serialize};

use crate::index::sweep::Phase;
use crate::position::Position;

/// A page of a pass. Its phase and its position within the phase identify it. The default is the first page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PageOf {
    pub(super) phase: Phase,
    pub(super) position: Position,
}

impl PageOf {
    /// Returns the page after this one. Returns `None` at the end of the pass. `next` is the next position in the same phase.
    pub(super) fn after(&self, next: Option<Position>) -> Option<Self> {
        match (next, self.phase) {
            (Some(position), phase) => Some(Self { phase, position }),
            (None, Phase::Rows) => Some(Self { phase: Phase::Entities, position: Position::default() }),
            (None, Phase::Entities) => None,
        }
    }
}

/// The state of a pass. Every page before `next` has been processed. Every page before `failed` is complete. The default is the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pass {
    /// The number of entities on processed pages that were set aside because they cannot be read. An interrupted run does not return its findings. Therefore,
    /// the run that completes the index reports this number. Excludes the failed page and the pages after it, because they are processed again.
    pub(super) aside: u64,
    /// The first page with an entity that could not be indexed, or with an index row that could not be checked. `None` if all processed pages are complete.
    pub(super) failed: Option<PageOf>,
    /// The next page. If it is the failed page, the pass has reached the end, and processes that page a second time.
    pub(super) next: PageOf,
}
