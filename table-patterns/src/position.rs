//! The resume position of a backfill within its key ranges, as recorded in the stored schema.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

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
#[derive(Clone, Debug, Default, PartialEq)]
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

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.as_ref().map(ToString::to_string).unwrap_or_default();
        write!(f, "{} {from} {:016x}", self.range, self.ranges)
    }
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

    /// Parses a resume position. Any other string means the start.
    pub(crate) fn read(text: &str) -> Self {
        let parsed = || -> Option<Self> {
            let mut words = text.split(' ');
            let (range, from, ranges) = (words.next()?, words.next()?, words.next()?);
            let from = if from.is_empty() { None } else { Some(from.parse().ok()?) };
            Some(Self { range: range.parse().ok()?, from, ranges: u64::from_str_radix(ranges, 16).ok()? })
        };
        parsed().unwrap_or_default()
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
mod tests {
    use pollster::block_on;
    use table_core::embedded::Engine;
    use table_core::query::TextRange;
    use table_core::{Entity, TableStoreExt};

    use super::*;

    #[derive(Entity, Clone)]
    #[partition_key(group)]
    #[row_key(id)]
    struct Item {
        group: String,
        id: u32,
    }

    fn ranges(groups: &[&str]) -> Vec<KeyRange> {
        groups
            .iter()
            .map(|group| KeyRange { partition_key: TextRange::prefix(group), row_key: TextRange::ALL })
            .collect()
    }

    /// Reads the ranges page by page, parsing the position before each page, until `pages` pages have been read. Returns the rows, the next position, and the
    /// number of restarts.
    fn read(
        engine: &Engine,
        ranges: &[KeyRange],
        from: &str,
        pages: usize,
    ) -> (Vec<String>, Option<String>, usize) {
        let (mut found, mut next, mut restarts) = (Vec::new(), Some(from.to_owned()), 0);
        let table = TableName::new("Items").unwrap();
        for _ in 0..pages {
            let Some(at) = next.take() else { break };
            let query = |keys| Query { top: Some(1), ..Query::new(keys) };
            let PageAt { page, next: following, is_restart, .. } =
                block_on(Position::read(&at).page((engine, &table), ranges, query)).unwrap();
            restarts += usize::from(is_restart);
            found.extend(
                page.rows
                    .iter()
                    .map(|row| format!("{}{}", row.partition_key, row.row_key.trim_start_matches('0'))),
            );
            next = following.map(|next| next.to_string());
        }
        (found, next, restarts)
    }

    #[test]
    fn a_position_continues_in_its_ranges_and_starts_again_in_others() {
        let engine = Engine::in_memory();
        let items = block_on(engine.table_named::<Item>("Items").unwrap().create_if_missing()).unwrap();
        for (group, id) in [("a", 1), ("a", 2), ("b", 1), ("c", 1), ("c", 2)] {
            block_on(items.insert(&Item { group: group.into(), id })).unwrap();
        }
        let all = ["a1", "a2", "b1", "c1", "c2"];
        let list = ranges(&["a", "b", "c"]);
        let start = Position::default().to_string();
        assert_eq!(read(&engine, &list, &start, 20).0, all);
        for pages in 1..7 {
            let (found, next, restarts) = read(&engine, &list, &start, pages);
            assert_eq!(restarts, 0);
            let Some(next) = next else { continue };
            let (rest, _, restarts) = read(&engine, &list, &next, 20);
            assert_eq!(
                ([found, rest].concat(), restarts),
                (all.map(str::to_owned).to_vec(), 0),
                "after {pages} pages"
            );
            for others in [&["a", "c"][..], &["c"], &["", "c"], &["c", "b", "a", "d"]] {
                let others = ranges(others);
                let (expected, ..) = read(&engine, &others, &start, 20);
                assert_eq!(read(&engine, &others, &next, 20), (expected, None, 1), "{next}");
            }
        }
        for other in ["", "1 ", "1 x 00", "9  00", "-1  0", "2  zz"] {
            assert_eq!(read(&engine, &list, other, 20).0, all, "{other}");
        }
    }

    #[test]
    fn a_pass_starts_again_if_the_table_is_created_again() {
        let engine = Engine::in_memory();
        let list = ranges(&[""]);
        let open = || block_on(engine.table_named::<Item>("Items").unwrap().create_if_missing()).unwrap();
        let fill = || {
            for id in 1..4 {
                block_on(open().insert(&Item { group: "a".into(), id })).unwrap();
            }
        };
        fill();
        let (_, next, _) = read(&engine, &list, &Position::default().to_string(), 2);
        block_on(open().delete_table()).unwrap();
        fill();
        let expected = ["a1", "a2", "a3"].map(str::to_owned).to_vec();
        assert_eq!(read(&engine, &list, &next.unwrap(), 20), (expected, None, 1));
    }
}
