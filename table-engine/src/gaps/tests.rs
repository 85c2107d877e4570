//! Tests that states with gaps agree with a simple map. The tests include snapshots, late gap reports, rolled-back writes, and checkpoints.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use proptest::prelude::*;
use table_store::row::Row;

use super::*;
use crate::base::tests::{base, key_of, meta, row_of};
use crate::base::{Base, Merged};
use crate::state::State;

const KEYS: u16 = 400;

#[derive(Clone, Debug)]
enum Act {
    /// Writes or deletes `count` rows, starting with row `from`.
    Write {
        from: u16,
        count: u16,
        puts: bool,
    },
    /// Deletes the first `count` rows, as queue receivers do.
    DeleteHead {
        count: u16,
    },
    /// Scans a range of rows, and queues a report of the gap that the scan finds.
    Scan {
        from: u16,
        to: u16,
        of_snapshot: bool,
    },
    /// Delivers the oldest gap report to the latest state.
    Deliver,
    /// Rolls back the writes made since the state was last published.
    TakeBack,
    Publish,
    TakeSnapshot,
    /// Writes the memtable's rows to the base, and merges the base.
    Checkpoint,
}

fn act() -> impl Strategy<Value = Act> {
    let write = |most: u16, puts: bool| {
        (0..KEYS, 1..=most).prop_map(move |(from, count)| Act::Write { from, count, puts })
    };
    let scan =
        (0..KEYS, 0..KEYS + 10, any::<bool>(), any::<bool>()).prop_map(|(from, to, all, of_snapshot)| {
            if all {
                Act::Scan { from: 0, to: KEYS, of_snapshot }
            } else {
                Act::Scan { from, to, of_snapshot }
            }
        });
    prop_oneof![
        3 => write(3, true),
        1 => write(100, true),
        3 => write(300, false),
        1 => write(2, false),
        6 => (1..20_u16).prop_map(|count| Act::DeleteHead { count }),
        6 => scan,
        5 => Just(Act::Deliver),
        1 => Just(Act::TakeBack),
        4 => Just(Act::Publish),
        1 => Just(Act::TakeSnapshot),
        1 => Just(Act::Checkpoint),
    ]
}

/// A state and its expected rows.
#[derive(Clone, Default)]
struct Known {
    state: State,
    model: BTreeMap<u16, Row>,
}

impl Known {
    /// Compares a scan with the model. Returns the gap reported by the scan.
    fn scan(&self, from: u16, to: u16) -> Option<FoundGap> {
        let span = Span { start: key_of(1, from), end: key_of(1, to) };
        let mut seen = Vec::new();
        let found = self.state.scan(&span, |key, row| {
            seen.extend(row.map(|row| (key.to_vec(), row.to_row())));
            Ok(ControlFlow::Continue(()))
        });
        let within = self.model.iter().filter(|(n, _)| **n >= from && **n < to);
        let wanted: Vec<_> = within.map(|(n, row)| (key_of(1, *n), row.clone())).collect();
        assert_eq!(seen, wanted);
        found.unwrap()
    }
}

/// Writes all rows of the memtable to the base, then merges the base.
fn checkpoint(base: &mut Base, state: &mut State) {
    let recent = std::mem::take(&mut state.memtable);
    let rows = recent.iter().map(|(key, row)| (&**key, row.as_ref().map(Row::view)));
    base.flush(rows, meta(&[1])).unwrap();
    assert!(!matches!(base.merge().unwrap(), Merged::Failed(_) | Merged::Apart(_)));
    state.base = Some(base.view());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn scans_find_the_rows_of_their_state_after_any_writes_and_reports(
        acts in prop::collection::vec(act(), 1..80),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut base = base(folder.path());
        let mut latest = Known::default();
        let (mut published, mut snapshot) = (latest.clone(), latest.clone());
        let (mut written, mut reports, mut ticks) = (WrittenKeys::default(), VecDeque::new(), 0);
        let rows: Vec<Act> = vec![Act::Write { from: 0, count: KEYS, puts: true }];
        for act in rows.into_iter().chain(acts) {
            match act {
                Act::Write { from, count, puts } => {
                    for n in from..(from + count).min(KEYS) {
                        ticks += 1;
                        let row = puts.then(|| row_of(ticks, 3));
                        latest.state.set(Key::from(key_of(1, n)), row.clone(), &mut written);
                        match row {
                            Some(row) => latest.model.insert(n, row),
                            None => latest.model.remove(&n),
                        };
                    }
                }
                Act::DeleteHead { count } => {
                    let head: Vec<u16> = latest.model.keys().copied().take(count.into()).collect();
                    for n in &head {
                        latest.state.set(Key::from(key_of(1, *n)), None, &mut written);
                        latest.model.remove(n);
                    }
                    if let Some(first) = head.first() {
                        latest.state.extend_gap(&key_of(1, *first), head.len()).unwrap();
                    }
                }
                Act::Scan { from, to, of_snapshot } => {
                    let read = if of_snapshot { &snapshot } else { &published };
                    reports.extend(read.scan(from, to));
                }
                Act::Deliver => {
                    if let Some(report) = reports.pop_front() {
                        latest.state.gaps.add(report, &written);
                    }
                }
                Act::TakeBack => {
                    latest = published.clone();
                    written.clear();
                }
                Act::Publish => published = latest.clone(),
                Act::TakeSnapshot => snapshot = published.clone(),
                Act::Checkpoint => {
                    checkpoint(&mut base, &mut latest.state);
                    published = latest.clone();
                }
            }
            latest.scan(0, KEYS);
            snapshot.scan(0, KEYS);
            let gaps: Vec<_> = latest.state.gaps.ends.iter().collect();
            prop_assert!(gaps.iter().all(|(start, end)| start < end));
            prop_assert!(gaps.windows(2).all(|pair| pair[0].1 < pair[1].0), "gaps touch");
        }
    }
}

/// Returns a state and its written keys. All rows of the state have been written and then deleted.
fn emptied() -> (Known, WrittenKeys) {
    let (mut known, mut written) = (Known::default(), WrittenKeys::default());
    for puts in [true, false] {
        for n in 0..KEYS {
            let row = puts.then(|| row_of(u64::from(n) + 1, 3));
            known.state.set(Key::from(key_of(1, n)), row, &mut written);
        }
    }
    (known, written)
}

fn visits(state: &State) -> usize {
    let mut visits = 0;
    let count = |_: crate::key::SplitKey<'_>, _: Option<table_store::row::RowView<'_>>| {
        visits += 1;
        Ok(ControlFlow::Continue(()))
    };
    state.scan(&Span::table(1), count).unwrap();
    visits
}

#[test]
fn a_reported_gap_is_skipped_until_a_row_is_written_there() {
    let (mut known, mut written) = emptied();
    let report = known.scan(0, KEYS).unwrap();
    assert_eq!(visits(&known.state), usize::from(KEYS));
    let before = known.state.clone();
    assert!(known.state.gaps.add(report, &written));
    assert_eq!((visits(&known.state), visits(&before)), (0, usize::from(KEYS)), "of this state only");
    assert!(known.scan(0, KEYS).is_none(), "it is not reported again");

    known.state.set(Key::from(key_of(1, 7)), Some(row_of(9, 3)), &mut written);
    assert_eq!(visits(&known.state), 1);
    known.state.set(Key::from(key_of(1, 7)), None, &mut written);
    assert_eq!(visits(&known.state), 1, "a deletion between two gaps");
    for n in [9, 11, 13, 15] {
        for row in [Some(row_of(9, 3)), None] {
            known.state.set(Key::from(key_of(1, n)), row, &mut written);
        }
    }
    let report = known.scan(0, KEYS).expect("many small gaps are worth one large one");
    assert!(known.state.gaps.add(report, &written));
    assert_eq!((visits(&known.state), known.state.gaps.ends.len()), (0, 1));
}

#[test]
fn a_report_is_refused_if_a_row_was_written_there_since_or_too_many_were_written() {
    let (known, written) = emptied();
    let write = |n: u16, count: usize, take_back: bool| {
        let (mut state, mut written) = (known.state.clone(), WrittenKeys(written.0.clone()));
        let report = known.scan(0, KEYS).unwrap();
        for _ in 0..count {
            state.set(Key::from(key_of(1, n)), Some(row_of(9, 3)), &mut written);
        }
        if take_back {
            written.clear();
        }
        state.gaps.add(report, &written)
    };
    assert!(write(KEYS + 1, 1, false), "behind the gap");
    assert!(!write(KEYS - 1, 1, false), "in the gap");
    assert!(write(KEYS + 1, REMEMBERED, false));
    assert!(!write(KEYS + 1, REMEMBERED + 1, false));
    assert!(!write(KEYS + 1, 1, true), "keys that are not remembered");
    assert!(write(KEYS + 1, 0, true));
}

#[test]
fn a_deletion_behind_a_gap_extends_it_up_to_the_next_row() {
    let (mut known, mut written) = emptied();
    let report = known.scan(0, KEYS).unwrap();
    for n in [50, 51, 60] {
        known.state.set(Key::from(key_of(1, n)), Some(row_of(9, 3)), &mut written);
    }
    assert!(!known.state.gaps.add(report, &written));
    let found = known.state.gaps.found(Span { start: key_of(1, 0), end: key_of(1, 50) });
    assert!(known.state.gaps.add(found, &written));
    for n in [50, 51] {
        known.state.set(Key::from(key_of(1, n)), None, &mut written);
    }
    known.state.extend_gap(&key_of(1, 50), 20).unwrap();
    assert!(known.state.gaps.end_at(&key_of(1, 60)));
    // The row at 60 is followed by 339 tombstones.
    known.state.set(Key::from(key_of(1, 60)), None, &mut written);
    known.state.extend_gap(&key_of(1, 60), 1).unwrap();
    assert!(known.state.gaps.end_at(&key_of(1, 61)), "as far as it was visited");
    known.state.extend_gap(&key_of(1, 300), 100).unwrap();
    assert_eq!(known.state.gaps.ends.len(), 1, "no gap ends there");
}

#[test]
fn the_number_of_gaps_has_a_bound() {
    let (mut gaps, written) = (Gaps::default(), WrittenKeys::default());
    for n in 0..5_000 {
        let found = gaps.found(Span { start: key_of(n, 0), end: key_of(n, 9) });
        gaps.add(found, &written);
        assert!(gaps.ends.len() <= MOST);
    }
    assert!(!gaps.ends.is_empty());
}
