//! Tests that compare the base with a simple map after flushes, merges, dropped tables, and reopening with different options.

mod busy;
mod dropped;
mod rot;

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};

use proptest::prelude::*;
use table_store::ErrorCode;
use table_store::name::TableName;
use table_store::row::Row;

use super::*;
use crate::catalog::{Catalog, TableEntry};
use crate::key::{Span, SplitKey};
use crate::tests::gate::GatedDisk;

/// Returns the location of a base in a folder.
pub(crate) fn place(folder: &Path) -> Place {
    Place {
        disk: Arc::new(GatedDisk::default()),
        folder: folder.into(),
        cache_bytes: 1 << 20,
        run_bytes: 2_000,
        hook: None,
    }
}

/// Returns the metadata of a base with one table for each of the given ids.
pub(crate) fn meta(tables: &[u32]) -> Meta {
    let mut catalog = Catalog::default();
    for id in tables {
        catalog.add(TableEntry { id: *id, name: TableName::new(&format!("Table{id}")).unwrap(), created: 1 });
    }
    Meta { journal: 1, sequence: 1, timestamp: 0, catalog, dropped: Vec::new() }
}

/// Creates a base whose only table has the id 1.
pub(crate) fn base(folder: &Path) -> Base {
    Base::create(&place(folder), meta(&[1])).unwrap()
}

/// A part of a run's file, with the key range that becomes unreadable if the part is corrupted.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) file: String,
    pub(crate) offset: u64,
    pub(crate) keys: RangeInclusive<Vec<u8>>,
}

/// Returns the block parts and the index parts of all runs.
pub(crate) fn parts(view: &BaseView) -> Vec<Part> {
    let mut parts = Vec::new();
    for run in view.stored.version.runs() {
        let (file, directory) = (pool::name(run.number), run.directory().unwrap());
        let blocks = 0..directory.len();
        parts.extend(blocks.map(|block| Part {
            file: file.clone(),
            offset: directory.place(block).0,
            keys: directory.first(block)..=directory.last(block),
        }));
        let keys = run.first.to_vec()..=run.last.to_vec();
        parts.push(Part { file, offset: run.length - 60, keys });
    }
    parts
}

/// Flushes one row or one tombstone.
pub(crate) fn put(base: &mut Base, key: &[u8], row: Option<&Row>) {
    base.flush(std::iter::once((key, row.map(Row::view))), meta(&[1])).unwrap();
}

#[derive(Clone, Debug)]
enum Act {
    Flush(Vec<(u16, Option<u16>)>),
    Merge(usize),
    MergeAll,
    /// Replaces table 1 with a new table that has the same keys.
    Drop,
    /// Reopens the base with the given run size in bytes.
    Reopen(u64),
    /// Merges until no merge is due.
    Rest,
}

fn act() -> impl Strategy<Value = Act> {
    let change = (0..400_u16, prop::option::weighted(0.8, 0..600_u16));
    prop_oneof![
        8 => prop::collection::vec(change, 0..120).prop_map(Act::Flush),
        // Rows with neighbouring keys are written.
        4 => (0..400_u16, 1..60_u16).prop_map(|(from, count)| {
            Act::Flush((from..from + count).map(|n| (n, Some(40))).collect())
        }),
        // A few rows are written at a time. This case is frequent, so layers accumulate.
        8 => prop::collection::vec((0..400_u16, prop::option::weighted(0.9, 0..40_u16)), 1..4).prop_map(Act::Flush),
        // Rows with neighbouring keys are deleted.
        2 => (0..400_u16, 1..300_u16).prop_map(|(from, count)| {
            Act::Flush((from..from + count).map(|n| (n, None)).collect())
        }),
        4 => (0..6_usize).prop_map(Act::Merge),
        1 => Just(Act::MergeAll),
        1 => Just(Act::Drop),
        1 => Just(Act::Rest),
        2 => prop_oneof![Just(300_u64), Just(2_000), Just(30_000)].prop_map(Act::Reopen),
    ]
}

pub(crate) fn key_of(table: u32, n: u16) -> Vec<u8> {
    [&table.to_be_bytes()[..], format!("Sales\0{n:05}").as_bytes()].concat()
}

/// Creates a row with a value of the given size. Tests recognise the row by its Timestamp.
pub(crate) fn row_of(ticks: u64, bytes: u16) -> Row {
    let mut row = table_store::row::RowWriter::new();
    row.property("Bytes", table_store::ValueRef::Binary(&vec![7; bytes.into()]));
    row.finish().with_timestamp(ticks)
}

type Model = BTreeMap<u16, Row>;

fn scanned(view: &BaseView, span: &Span) -> Vec<(Vec<u8>, Row)> {
    let mut found = Vec::new();
    let visit = |key: SplitKey<'_>, row: Option<RowView<'_>>| {
        found.extend(row.map(|row| (key.to_vec(), row.to_row())));
        Ok(ControlFlow::Continue(()))
    };
    assert!(view.range(span).unwrap().visit(None, visit).unwrap().is_continue());
    found
}

fn check(view: &BaseView, table: u32, model: &Model, probe: u16) {
    let wanted: Vec<_> = model.iter().map(|(n, row)| (key_of(table, *n), row.clone())).collect();
    assert_eq!(scanned(view, &Span::table(table)), wanted);
    let part = Span { start: key_of(table, probe), end: key_of(table, probe + 50) };
    let within: Vec<_> =
        wanted.iter().filter(|(key, _)| part.start <= *key && *key < part.end).cloned().collect();
    assert_eq!(scanned(view, &part), within);
    for n in probe..probe + 50 {
        assert_eq!(view.get(&key_of(table, n)).unwrap(), model.get(&n).cloned(), "{n}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_base_agrees_with_a_map_after_flushes_merges_drops_and_reopens(
        acts in prop::collection::vec(act(), 1..60),
        probe in 0..400_u16,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut base = base(folder.path());
        let (mut table, mut model, mut ticks) = (1, Model::new(), 0);
        // The view of an earlier version, and its expected content.
        let mut before: Option<(BaseView, u32, Model)> = None;
        for act in acts {
            match act {
                Act::Flush(changes) => {
                    let mut flushed = BTreeMap::new();
                    for (n, bytes) in changes {
                        ticks += 1;
                        flushed.insert(n, bytes.map(|bytes| row_of(ticks, bytes)));
                    }
                    let keys: Vec<Vec<u8>> = flushed.keys().map(|n| key_of(table, *n)).collect();
                    let rows = keys.iter().zip(flushed.values());
                    let rows = rows.map(|(key, row)| (key.as_slice(), row.as_ref().map(Row::view)));
                    base.flush(rows, meta(&[table])).unwrap();
                    for (n, row) in flushed {
                        match row {
                            Some(row) => model.insert(n, row),
                            None => model.remove(&n),
                        };
                    }
                }
                Act::Merge(slices) => {
                    for _ in 0..slices {
                        prop_assert!(matches!(base.merge().unwrap(), Merged::Slice | Merged::Nothing));
                        check(&base.view(), table, &model, probe);
                    }
                }
                Act::MergeAll => {
                    base.merge_all();
                    while matches!(base.merge().unwrap(), Merged::Slice) {}
                    prop_assert!(base.figures().iter().all(policy::Figures::is_settled));
                }
                Act::Rest => {
                    while matches!(base.merge().unwrap(), Merged::Slice) {
                        check(&base.view(), table, &model, probe);
                    }
                    prop_assert_eq!(base.debt(), Debt::None);
                    let deepest = base.version.segments().iter().map(|segment| segment.layers.len()).max();
                    prop_assert!(deepest <= Some(policy::LAYERS));
                    prop_assert!(base.view().verify().is_whole());
                }
                Act::Drop => {
                    let mut meta = meta(&[table + 1]);
                    meta.dropped.push(table);
                    base.flush(std::iter::empty(), meta).unwrap();
                    prop_assert!(!base.view().may_hold(&Span::table(table)), "it held no other table");
                    table += 1;
                    model.clear();
                }
                Act::Reopen(run_bytes) => {
                    drop(base);
                    before = None;
                    base = Base::open(&Place { run_bytes, ..place(folder.path()) }).unwrap();
                    let left_over = base.left_over();
                    for file in std::fs::read_dir(folder.path()).unwrap() {
                        let file = file.unwrap();
                        if left_over(&file.file_name().to_string_lossy()) {
                            std::fs::remove_file(file.path()).unwrap();
                        }
                    }
                }
            }
            check(&base.view(), table, &model, probe);
            if let Some((view, table, model)) = &before {
                check(view, *table, model, probe);
            }
            if before.is_none() || ticks % 3 == 0 {
                before = Some((base.view(), table, model.clone()));
            }
            base.remove_obsolete();
        }
    }
}

/// Flushes the rows with these numbers. If `bytes` is `None`, flushes tombstones for these rows instead.
fn flush(base: &mut Base, numbers: impl IntoIterator<Item = u16>, bytes: Option<u16>) {
    let row = bytes.map(|bytes| row_of(7, bytes));
    let keys: Vec<_> = numbers.into_iter().map(|n| key_of(1, n)).collect();
    let view = row.as_ref().map(Row::view);
    base.flush(keys.iter().map(|key| (key.as_slice(), view)), meta(&[1])).unwrap();
}

/// Merges until no merge is due. Returns the number of completed merges.
fn rest(base: &mut Base) -> usize {
    std::iter::from_fn(|| matches!(base.merge().unwrap(), Merged::Slice).then_some(())).count()
}

/// Tests a base that is written with large runs and reopened with small runs. The first merged part then contains no block of one of the layers.
#[test]
fn an_interrupted_merge_keeps_the_layers_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let large = Place { run_bytes: 1 << 20, ..place(folder.path()) };
    flush(&mut Base::create(&large, meta(&[1])).unwrap(), 0..2_000, Some(30));
    let mut base = Base::open(&Place { run_bytes: 400, ..large }).unwrap();
    for n in 0..11 {
        let numbers: Vec<u16> =
            if n == 5 { (1_960..1_990).collect() } else { (0..30).map(|at| at * 55 + n).collect() };
        flush(&mut base, numbers, Some(30));
        rest(&mut base);
        assert_eq!(scanned(&base.view(), &Span::table(1)).len(), 2_000, "flush {n}");
    }
}

#[test]
fn deleted_rows_leave_the_base_without_remaining_deletions() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = Base::create(&Place { run_bytes: 60_000, ..place(folder.path()) }, meta(&[1])).unwrap();
    flush(&mut base, 0..5_000, Some(100));
    rest(&mut base);
    let before = base.pool.counters.merged_bytes();
    // The first thousand rows are deleted, as in a queue.
    flush(&mut base, 0..1_000, None);
    rest(&mut base);
    let deletions = |base: &Base| {
        base.figures()
            .iter()
            .map(|figures| figures.layers.iter().map(|layer| layer.deletions).sum::<u64>())
            .sum::<u64>()
    };
    assert!(deletions(&base) < policy::DELETIONS, "{}", deletions(&base));
    assert!(base.pool.counters.merged_bytes() - before < 30_000, "little is written");
    // All other rows are deleted in small steps.
    for from in (1_000..5_000).step_by(100) {
        flush(&mut base, from..from + 100, None);
        rest(&mut base);
        let bound = base.version.segments().len() as u64 * policy::DELETIONS;
        assert!(deletions(&base) < bound, "{}", deletions(&base));
    }
    assert_eq!(scanned(&base.view(), &Span::table(1)), []);
}

#[test]
fn cancelled_work_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = base(folder.path());
    let rows: Vec<_> = (0..200).map(|n| (key_of(1, n), row_of(n.into(), 100))).collect();
    let rows = || rows.iter().map(|(key, row)| (key.as_slice(), Some(row.view())));
    base.flush(rows().step_by(2), meta(&[1])).unwrap();
    base.flush(rows().step_by(3), meta(&[1])).unwrap();
    let names = || {
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = (names(), scanned(&base.view(), &Span::table(1)));
    base.stop().store(true, Ordering::Relaxed);
    assert_eq!(base.flush(rows(), meta(&[1])).unwrap_err().code(), ErrorCode::EngineClosed);
    base.merge_all();
    assert!(matches!(base.merge().unwrap(), Merged::Failed(_)));
    assert_eq!((names(), scanned(&base.view(), &Span::table(1))), before);
}

#[test]
fn ordered_rows_are_never_merged_and_a_merge_writes_one_slice() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = base(folder.path());
    let flush = |base: &mut Base, numbers: &[u16]| {
        let rows: Vec<_> = numbers.iter().map(|n| (key_of(1, *n), row_of(1, 300))).collect();
        base.flush(rows.iter().map(|(key, row)| (key.as_slice(), Some(row.view()))), meta(&[1])).unwrap();
    };
    for n in 0..20 {
        flush(&mut base, &(n * 20..n * 20 + 20).collect::<Vec<_>>());
        assert_eq!(base.debt(), Debt::None);
    }
    assert!(base.version.segments().iter().all(|segment| segment.layers.len() == 1));
    // A large layer that spans all segments is merged in several steps.
    flush(&mut base, &(0..400).collect::<Vec<_>>());
    let mut slices = 0;
    base.merge_all();
    loop {
        let before: Vec<u64> = base.version.runs().iter().map(|run| run.number).collect();
        match base.merge().unwrap() {
            Merged::Slice => slices += 1,
            other => break assert!(matches!(other, Merged::All)),
        }
        let runs = base.version.runs();
        let written: u64 =
            runs.iter().filter(|run| !before.contains(&run.number)).map(|run| run.length).sum();
        assert!(written <= 3 * base.run_bytes, "{written}");
    }
    assert!(slices > 20, "{slices}");
}

/// Tests that rows loaded in key order are never merged. They may be loaded into two tables, or into two parts of one table, and may lie between rows of other
/// tables.
#[test]
fn ordered_rows_between_others_are_never_merged() {
    let folder = tempfile::tempdir().unwrap();
    let tables = [1, 2];
    let mut base = Base::create(&place(folder.path()), meta(&tables)).unwrap();
    let mut flush = |keys: Vec<Vec<u8>>| {
        let row = row_of(1, 300);
        base.flush(keys.iter().map(|key| (key.as_slice(), Some(row.view()))), meta(&tables)).unwrap();
        assert_eq!(base.debt(), Debt::None);
        base.version.segments().iter().map(|segment| segment.layers.len()).max()
    };
    flush(vec![key_of(1, 0)]);
    flush(vec![key_of(1, 900), key_of(2, 0)]);
    for n in 1..20 {
        let keys = |table: u32, from: u16| (from + n * 20..from + n * 20 + 20).map(move |n| key_of(table, n));
        assert_eq!(flush(keys(1, 0).collect()), Some(1));
        // Two parts of a single run are adjacent.
        assert_eq!(flush(keys(1, 500).chain(keys(2, 0)).collect()), Some(1));
    }
}

#[test]
fn a_table_dropped_between_two_others_is_merged_out_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let tables = [1, 2, 3];
    let mut base = Base::create(&place(folder.path()), meta(&tables)).unwrap();
    let row = row_of(1, 10);
    // The rows of all three tables are in one run.
    let keys = tables.map(|table| key_of(table, 0));
    base.flush(keys.iter().map(|key| (key.as_slice(), Some(row.view()))), meta(&tables)).unwrap();
    let mut without = meta(&[1, 3]);
    without.dropped.push(2);
    base.flush(std::iter::empty(), without).unwrap();
    let merges = (0..10).take_while(|_| matches!(base.merge().unwrap(), Merged::Slice)).count();
    assert_eq!(merges, 1);
    assert_eq!(base.debt(), Debt::None);
    let held = tables.map(|table| base.view().get(&key_of(table, 0)).unwrap().is_some());
    assert_eq!(held, [true, false, true]);
}
