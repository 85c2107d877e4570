//! The state of a backfill's pass over an index between two pages, as recorded in the stored schema.

use std::fmt;

use crate::index::sweep::Phase;
use crate::position::Position;

/// The first word of a recorded state with a failed page.
const FAILED: &str = "failed ";
/// The text between the failed page and the next page in a recorded state.
const REACHED: &str = " reached ";
/// The first word of a recorded state that counts entities without an entry.
const ASIDE: &str = "aside ";

/// A page of a pass. Its phase and its position within the phase identify it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PageOf {
    pub(super) phase: Phase,
    pub(super) position: Position,
}

impl PageOf {
    /// Returns the first page of a phase.
    pub(super) fn first(phase: Phase) -> Self {
        Self { phase, position: Position::default() }
    }

    fn read(text: &str) -> Self {
        let (phase, position) = text.split_once(' ').unwrap_or_default();
        let phase = if phase == "entities" { Phase::Entities } else { Phase::Rows };
        Self { phase, position: Position::read(position) }
    }

    /// Returns the page after this one. Returns `None` at the end of the pass. `next` is the next position in the same phase.
    pub(super) fn after(&self, next: Option<Position>) -> Option<Self> {
        match (next, self.phase) {
            (Some(position), phase) => Some(Self { phase, position }),
            (None, Phase::Rows) => Some(Self::first(Phase::Entities)),
            (None, Phase::Entities) => None,
        }
    }
}

impl fmt::Display for PageOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = if self.phase == Phase::Rows { "rows" } else { "entities" };
        write!(f, "{phase} {}", self.position)
    }
}

/// The state of a pass. Every page before `next` has been processed. Every page before `failed` is complete.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pass {
    /// The number of entities on processed pages that were set aside because they cannot be read. An interrupted run does not return its findings. Therefore,
    /// the run that completes the index reports this number. Excludes the failed page and the pages after it, because they are processed again.
    pub(super) aside: u64,
    /// The first page with an entity that could not be indexed, or with an index row that could not be checked. `None` if all processed pages are complete.
    pub(super) failed: Option<PageOf>,
    /// The next page. If it is the failed page, the pass has reached the end, and processes that page a second time.
    pub(super) next: PageOf,
}

impl Pass {
    /// Returns the state of a pass that has processed no page.
    pub(super) fn start() -> Self {
        Self { aside: 0, failed: None, next: PageOf::first(Phase::Rows) }
    }

    /// Parses a recorded state. If the text is not a valid state, returns the start of the pass.
    pub(super) fn read(text: &str) -> Self {
        let counted = text.strip_prefix(ASIDE).and_then(|text| text.split_once(' '));
        let counted = counted.and_then(|(aside, text)| Some((aside.parse().ok()?, text)));
        let (aside, text) = counted.unwrap_or((0, text));
        match text.strip_prefix(FAILED).and_then(|text| text.split_once(REACHED)) {
            Some((failed, next)) => {
                Self { aside, failed: Some(PageOf::read(failed)), next: PageOf::read(next) }
            }
            None => Self { aside, failed: None, next: PageOf::read(text) },
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.aside > 0 {
            write!(f, "{ASIDE}{} ", self.aside)?;
        }
        if let Some(failed) = &self.failed {
            write!(f, "{FAILED}{failed}{REACHED}")?;
        }
        write!(f, "{}", self.next)
    }
}

#[cfg(test)]
mod tests;
