//! The resume position of a backfill within its key ranges, as recorded in the stored schema.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use table_core::Result;
use table_core::limits::PAGE_ENTITIES;
use table_core::name::TableName;
use table_core::query::{Continuation, KeyRange, Page, Query};
use table_core::store::TableStore;

use crate::omitted::{Unreadable, WholePage, whole_page};

/// A resume position in a list of key ranges. It consists of the index of a range and a continuation token within this range. The default is the start.
///
/// A resume position is valid only for the ranges for which it was created. Another release of the program can have different ranges, for example because it
/// declares another index. The pass then restarts. This is always correct, because processing a row twice is harmless.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Position {
    range: usize,
    from: Option<Continuation>,
    /// The hash of the ranges. 0 at the start. Different versions of the standard library may compute different hashes.
    ranges: u64,
}

fn hash(ranges: &[KeyRange]) -> u64 {
    let mut hasher = DefaultHasher::new();
    ranges.hash(&mut hasher);
    hasher.finish()
}

/// The result of reading the page at a position.
#[derive(Debug, Default)]
pub(crate) struct PageAt {
    pub(crate) page: Page,
    /// The rows that the page omits.
    pub(crate) unreadable: Vec<Unreadable>,
    /// The position just past the page, or `None` at the end of the last range.
    pub(crate) next: Option<Position>,
    /// `true` if the position was unusable. The first page was then read instead, and the pass starts again.
    pub(crate) is_restart: bool,
}

impl Position {
    const fn is_first(&self) -> bool {
        self.range == 0 && self.from.is_none()
    }

    /// Reads the page at this position. Reads the first page instead if the position does not belong to the ranges, or if the store refuses the continuation
    /// because the table was recreated (PAGE-9). A page has between 1 and 1,000 rows: a query for 0 rows would return an empty page without a continuation,
    /// which looks like the end.
    ///
    /// # Errors
    /// Any error from the store.
    pub(crate) async fn page<S: TableStore>(
        &self,
        (store, table): (&S, &TableName),
        ranges: &[KeyRange],
        query: impl Fn(KeyRange) -> Query,
    ) -> Result<PageAt> {
        let hash = hash(ranges);
        let mut at = if self.ranges == hash { self.clone() } else { Self::default() };
        loop {
            let Some(range) = ranges.get(at.range) else { return Ok(PageAt::default()) };
            let query = query(range.clone());
            let query = Query { top: query.top.map(|top| top.clamp(1, PAGE_ENTITIES)), ..query };
            let whole = match whole_page((store, table), &query, at.from.as_ref()).await {
                Err(error) if at.from.is_some() && error.rule() == Some("PAGE-9") => {
                    at = Self::default();
                    continue;
                }
                whole => whole?,
            };
            let WholePage { mut page, unreadable } = whole;
            let next = match page.continuation.take() {
                from @ Some(_) => Some(Self { range: at.range, from, ranges: hash }),
                None => (at.range + 1 < ranges.len()).then_some(Self {
                    range: at.range + 1,
                    from: None,
                    ranges: hash,
                }),
            };
            let is_restart = at.is_first() && !self.is_first();
            return Ok(PageAt { page, unreadable, next, is_restart });
        }
    }
}

#[cfg(test)]
mod tests;
