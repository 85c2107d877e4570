//! The state that readers see: an immutable value that is replaced atomically.

use std::borrow::Cow;
use std::iter::Peekable;
use std::ops::ControlFlow;

use imbl::OrdMap;
use table_store::row::{Row, RowView};
use table_store::{ErrorCode, Result};

use crate::base::{BaseCursor, BaseView, Skipped};
use crate::catalog::Catalog;
use crate::front::{Front, Positions};
use crate::gaps::{FoundGap, Gaps, Search, WrittenKeys};
use crate::key::{self, Key, Span, SplitKey};
use crate::memtable::Memtable;
use crate::statistics::Statistics;

/// Tables and rows at one point in time. If several layers have an entry for a key, the memtable takes precedence over the frozen rows, and the frozen rows
/// take precedence over the base.
#[derive(Clone, Default)]
pub(crate) struct State {
    pub(crate) catalog: Catalog,
    /// The rows written since the last checkpoint began.
    pub(crate) memtable: Memtable,
    /// The rows being written to the base by a checkpoint.
    pub(crate) frozen: Option<Memtable>,
    /// The base after the last checkpoint or merge step, or `None` for an in-memory engine.
    pub(crate) base: Option<BaseView>,
    /// The positions in each queue's table where decisions start reading.
    pub(crate) positions: OrdMap<u32, Positions>,
    /// The key ranges without rows that scans skip.
    pub(crate) gaps: Gaps,
    /// The time of the last decision (a transaction computed by the committer) that is included in this state.
    pub(crate) decided: u64,
    /// `true` if the engine is closed. All other fields are then empty.
    pub(crate) is_closed: bool,
    /// `true` if this is a placeholder for the current state. In that case, only the committer has the current state, and all other fields are empty.
    pub(crate) is_withdrawn: bool,
}

impl State {
    /// Creates the state of a closed engine.
    pub(crate) fn closed() -> Self {
        Self { is_closed: true, ..Self::default() }
    }

    /// Creates the placeholder for a published state. It is used until a reader requests the current state from the committer.
    pub(crate) fn withdrawn() -> Self {
        Self { is_withdrawn: true, ..Self::default() }
    }

    /// Returns the positions in a queue's table where decisions start reading.
    pub(crate) fn positions(&self, table: u32) -> Positions {
        self.positions.get(&table).copied().unwrap_or_default()
    }

    /// Returns a queue's head. The queue's table contains no message before this position.
    pub(crate) fn front(&self, table: u32) -> Front {
        self.positions(table).front
    }

    /// Returns the row with the given key.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Row>> {
        self.get_with(key, BaseView::get)
    }

    /// Returns the row with the given key. Calls `get` to look it up in the base if neither the memtable nor the frozen rows have an entry for the key.
    fn get_with(
        &self,
        key: &[u8],
        get: impl Fn(&BaseView, &[u8]) -> Result<Option<Row>>,
    ) -> Result<Option<Row>> {
        let newer = || self.memtable.get(key);
        let older = || self.frozen.as_ref().and_then(|frozen| frozen.get(key));
        match (newer().or_else(older), &self.base) {
            (Some(row), _) => Ok(row.clone()),
            (None, Some(base)) => get(base, key),
            (None, None) => Ok(None),
        }
    }

    /// Writes a row, or a tombstone (`None`) that hides older versions of the row.
    pub(crate) fn set(&mut self, key: Key, row: Option<Row>, written: &mut WrittenKeys) {
        if row.is_some() {
            self.gaps.write(&key);
            written.push(&key);
        }
        self.memtable.set(key, row);
    }

    /// Extends the gap that ends at a deleted row, if any, up to the next row. To limit the cost, the search for the next row stops after `most` tombstones.
    pub(crate) fn extend_gap(&mut self, deleted: &[u8], most: usize) -> Result<()> {
        let Some(table) = key::table_of(deleted).filter(|_| self.gaps.end_at(deleted)) else { return Ok(()) };
        let mut span = Span { start: deleted.to_vec(), ..Span::table(table) };
        let (mut behind, mut visited) = (None, 0);
        self.scan(&span, |key, row| {
            visited += 1;
            if row.is_none() && visited <= most {
                return Ok(ControlFlow::Continue(()));
            }
            behind = Some(key.to_vec());
            Ok(ControlFlow::Break(()))
        })?;
        if let Some(behind) = behind {
            span.end = behind;
        }
        self.gaps.extend(span);
        Ok(())
    }

    /// Visits the keys in a span, in order, until the visitor stops. The visitor receives each key with its row, or with `None` for a tombstone. Returns a long
    /// gap that the scan has found, unless the state already contains it.
    pub(crate) fn scan(
        &self,
        span: &Span,
        visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<Option<FoundGap>> {
        self.scan_around_gaps(span, BaseView::range, visit)
    }

    /// Visits the keys in a span like [`scan`](Self::scan), but skips unreadable parts of the base and adds them to `skipped`.
    ///
    /// If the row of a key may be in such a part, the key is visited as a tombstone. A key with an entry in a newer layer is not affected.
    pub(crate) fn scan_readable(
        &self,
        span: &Span,
        skipped: &Skipped,
        mut visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<Option<FoundGap>> {
        let found = self.scan_around_gaps(
            span,
            |base, span| base.range_around(span, skipped),
            |key, row| {
                if skipped.is_empty() {
                    return visit(key, row);
                }
                let whole = key.to_vec();
                if !skipped.contains(&whole) {
                    return visit(key, row);
                }
                match self.get_with(&whole, |base, key| base.get_around(key, skipped)) {
                    Err(error) if error.code() == ErrorCode::Corrupted => visit(key, None),
                    row => visit(key, row?.as_ref().map(Row::view)),
                }
            },
        )?;
        // A skipped part may contain rows and may become readable later, so it must not be part of a gap.
        Ok(found.filter(|_| skipped.is_empty()))
    }

    /// Visits the keys in a span like [`scan`](Self::scan), without adding blocks to the cache.
    pub(crate) fn sweep(
        &self,
        span: &Span,
        visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<Option<FoundGap>> {
        self.scan_around_gaps(span, BaseView::sweep, visit)
    }

    /// Adds three kinds of figures to `statistics`: the number of tables, the number and size of the rows in memory, and the statistics of the base.
    pub(crate) fn describe(&self, statistics: &mut Statistics) {
        statistics.tables = self.catalog.listed();
        statistics.memtable_rows = self.memtable.len() + self.frozen.as_ref().map_or(0, Memtable::len);
        statistics.memtable_bytes = self.memtable.bytes() + self.frozen.as_ref().map_or(0, Memtable::bytes);
        if let Some(base) = &self.base {
            base.describe(statistics);
        }
    }

    fn scan_around_gaps(
        &self,
        span: &Span,
        open: impl Fn(&BaseView, &Span) -> Result<BaseCursor>,
        mut visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<Option<FoundGap>> {
        let (mut rest, mut search) = (Cow::Borrowed(span), Search::new(span));
        let mut read = |part: &Span, search: &mut Search<'_>| {
            if part.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            let base = self.base.as_ref().map(|base| open(base, part)).transpose()?;
            self.scan_over(base, part, |key, row| {
                match row {
                    Some(_) => search.row(key),
                    None => search.deletion(key),
                }
                let next = visit(key, row)?;
                if next.is_break() {
                    search.end(key);
                }
                Ok(next)
            })
        };
        loop {
            let Some((start, end)) = self.gaps.first_in(&rest) else {
                if read(&rest, &mut search)?.is_continue() {
                    search.end(SplitKey::whole(&span.end));
                }
                break;
            };
            let part = Span { start: rest.start.clone(), end: start.to_vec() };
            if read(&part, &mut search)?.is_break() {
                break;
            }
            search.skip(start);
            rest = Cow::Owned(Span { start: end.to_vec(), end: span.end.clone() });
        }
        Ok(search.finish(&self.gaps))
    }

    fn scan_over(
        &self,
        mut base: Option<BaseCursor>,
        span: &Span,
        mut visit: impl FnMut(SplitKey<'_>, Option<RowView<'_>>) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let frozen = self.frozen.iter().flat_map(|frozen| frozen.range(span));
        let mut newer = Overlay { newer: self.memtable.range(span).peekable(), older: frozen.peekable() };
        loop {
            let next = newer.next();
            if let Some(base) = &mut base {
                let end = next.map(|(key, _)| &**key);
                if base.visit(end, &mut visit)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if let Some(key) = end {
                    base.pass(key)?;
                }
            }
            let Some((key, entry)) = next else { return Ok(ControlFlow::Continue(())) };
            if visit(SplitKey::whole(key), entry.as_ref().map(Row::view))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// An iterator that merges two layers in key order. For equal keys, it returns the entry of the newer layer.
struct Overlay<A: Iterator, B: Iterator> {
    newer: Peekable<A>,
    older: Peekable<B>,
}

impl<'a, A, B> Iterator for Overlay<A, B>
where
    A: Iterator<Item = (&'a Key, &'a Option<Row>)>,
    B: Iterator<Item = (&'a Key, &'a Option<Row>)>,
{
    type Item = (&'a Key, &'a Option<Row>);

    fn next(&mut self) -> Option<Self::Item> {
        let Some((older, _)) = self.older.peek() else { return self.newer.next() };
        match self.newer.peek() {
            None => self.older.next(),
            Some((newer, _)) if older < newer => self.older.next(),
            Some((newer, _)) => {
                if older == newer {
                    self.older.next();
                }
                self.newer.next()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use table_store::row::RowWriter;

    use super::*;
    use crate::base;

    fn key(n: u8) -> Key {
        Key::from([0, 0, 0, 1, n].as_slice())
    }

    fn row(ticks: u64) -> Row {
        RowWriter::new().finish().with_timestamp(ticks)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn layers_read_as_the_last_write_of_each_key(
            writes in prop::collection::vec((0..12_u8, any::<bool>(), 0..3_u8), 0..60),
            from in 0..12_u8,
            to in 0..12_u8,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut base = base::tests::base(folder.path());
            let (mut recent, mut frozen, mut model) = (Memtable::default(), Memtable::default(), BTreeMap::new());
            let mut sorted = writes.clone();
            sorted.sort_by_key(|(_, _, layer)| *layer);
            for (ticks, (n, put, layer)) in sorted.into_iter().enumerate() {
                let row = put.then(|| row(ticks as u64));
                match layer {
                    0 => base::tests::put(&mut base, &key(n), row.as_ref()),
                    1 => frozen.set(key(n), row.clone()),
                    _ => recent.set(key(n), row.clone()),
                }
                model.insert(n, row);
            }
            let state = State {
                memtable: recent, frozen: Some(frozen), base: Some(base.view()), ..State::default()
            };
            for n in 0..12 {
                prop_assert_eq!(state.get(&key(n)).unwrap(), model.get(&n).cloned().flatten());
            }
            let span = Span { start: key(from).to_vec(), end: key(to).to_vec() };
            let mut seen = Vec::new();
            state.scan(&span, |key, row| {
                if let Some(row) = row {
                    seen.push((key.to_vec()[4], row.to_row()));
                }
                Ok(ControlFlow::Continue(()))
            }).unwrap();
            let wanted: Vec<_> = model.into_iter()
                .filter(|(n, _)| (from..to).contains(n))
                .filter_map(|(n, row)| row.map(|row| (n, row)))
                .collect();
            prop_assert_eq!(seen, wanted);
        }
    }
}
