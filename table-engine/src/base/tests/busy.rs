//! Tests a base in which a merge is always due, because more rows are flushed after each merge step.

use super::*;

/// Flushes all rows of table 1 until a merge is due.
fn flush_until_due(base: &mut Base) {
    let rows: Vec<_> = (0..400).map(|n| (key_of(1, n), row_of(1, 40))).collect();
    loop {
        base.flush(rows.iter().map(|(key, row)| (key.as_slice(), Some(row.view()))), meta(&[1])).unwrap();
        if policy::choose(&base.figures(), base.run_bytes, policy::Turn::Flushes).is_some() {
            return;
        }
    }
}

#[test]
fn a_compaction_ends_although_merges_of_later_rows_are_due() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = base(folder.path());
    flush_until_due(&mut base);
    base.merge_all();
    let mut outcomes = (0..1_000).map(|_| {
        flush_until_due(&mut base);
        base.merge().unwrap()
    });
    let last = outcomes.find(|outcome| !matches!(outcome, Merged::Slice));
    assert!(matches!(last, Some(Merged::All)), "{last:?}");
}

#[test]
fn a_dropped_table_is_forgotten_although_merges_of_later_rows_are_due() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = Base::create(&place(folder.path()), meta(&[1, 2])).unwrap();
    let rows: Vec<_> = (0..400).map(|n| (key_of(2, n), row_of(1, 40))).collect();
    base.flush(rows.iter().map(|(key, row)| (key.as_slice(), Some(row.view()))), meta(&[1, 2])).unwrap();
    let dropped = Meta { dropped: vec![2], ..meta(&[1]) };
    base.flush(std::iter::empty(), dropped).unwrap();
    let steps = (0..1_000).take_while(|_| {
        flush_until_due(&mut base);
        assert!(matches!(base.merge().unwrap(), Merged::Slice));
        !base.stored.meta.dropped.is_empty()
    });
    assert!(steps.count() < 1_000);
}

#[test]
fn a_flush_waits_for_few_merges_of_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let mut base = Base::create(&place(folder.path()), meta(&[1, 2])).unwrap();
    let flush = |base: &mut Base, table: u32, numbers: &mut dyn Iterator<Item = u16>| {
        let rows: Vec<_> = numbers.map(|n| (key_of(table, n), row_of(1, 100))).collect();
        let rows = rows.iter().map(|(key, row)| (key.as_slice(), Some(row.view())));
        base.flush(rows, meta(&[1, 2])).unwrap();
    };
    flush(&mut base, 1, &mut (0..1_000));
    flush(&mut base, 1, &mut (0..1_000).step_by(100));
    let segments = base.version.segments().len();
    assert_eq!(base.debt(), Debt::None);
    base.merge_all();
    while base.debt() != Debt::Much {
        flush(&mut base, 2, &mut (0..1));
    }
    let merges = (0..segments).take_while(|_| {
        assert!(matches!(base.merge().unwrap(), Merged::Slice));
        base.debt() == Debt::Much
    });
    let waited = merges.count();
    assert!(waited <= 2, "{waited} of {segments}");
}
