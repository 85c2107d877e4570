use super::*;

fn row_key(number: usize) -> RowKey {
    RowKey::new(format!("{number:06}")).unwrap()
}

/// Returns a row that was written unconditionally, or that had to have the given version.
fn sent(row_key: &RowKey, replaced: Option<u64>) -> SentRow {
    let replaced = replaced.map(ETag::from_ticks);
    SentRow { row_key: row_key.clone(), is_written: true, replaced }
}

#[test]
fn a_row_is_foreign_if_its_version_is_neither_the_read_nor_the_written_one() {
    let (rows, key) = (SeenRows::default(), row_key(1));
    let version = |ticks| Some(ETag::from_ticks(ticks));
    rows.wrote(&sent(&key, None), version(1).as_ref());
    assert!(!rows.is_foreign(&key, None), "a row that was never read is not remembered");
    assert!(rows.is_foreign(&key, version(2).as_ref()), "it was absent");
    rows.wrote(&sent(&key, Some(2)), version(3).as_ref());
    assert!(!rows.is_foreign(&key, version(3).as_ref()));
    assert!(rows.is_foreign(&key, version(4).as_ref()));
    assert!(!rows.is_foreign(&key, version(4).as_ref()));
    rows.wrote(&sent(&key, Some(5)), version(6).as_ref());
    assert!(rows.is_foreign(&key, version(6).as_ref()), "the write replaced a foreign version");
}

#[test]
fn a_reservation_that_is_renewed_after_its_hold_time_is_not_passed() {
    let (rows, key) = (SeenRows::default(), row_key(1));
    let version = ETag::from_ticks;
    rows.pass(&key, &version(1));
    assert!(rows.is_passed(&key, &version(1)) && !rows.is_passed(&key, &version(2)));
    rows.found(&HashSet::new());
    assert!(!rows.is_passed(&key, &version(1)));
}

#[test]
fn a_process_is_told_of_changes_that_others_have_recorded() {
    let (partitions, table) = (SeenPartitions::default(), TableName::new("Notes").unwrap());
    let place = (&table, &PartitionKey::new("t").unwrap());
    partitions.recorded(place, true);
    let rows = partitions.partition(place.0, place.1);
    assert!(!rows.is_shared(), "no transaction has used the partition");
    partitions.recorded(place, true);
    rows.set_shared(false);
    assert!(rows.is_shared());
    partitions.recorded(place, false);
    assert!(!rows.is_shared());
}

#[test]
fn memory_is_bounded_and_rows_in_use_are_kept() {
    let (rows, hot) = (SeenRows::default(), row_key(0));
    rows.is_foreign(&hot, None);
    for number in 1..10 * ROWS {
        rows.is_foreign(&row_key(number), None);
        assert!(!rows.is_foreign(&hot, None));
    }
    assert!(rows.is_foreign(&hot, Some(&ETag::from_ticks(1))), "it is remembered");
    let state = rows.lock();
    assert!(state.versions.young.len() + state.versions.old.len() <= 2 * ROWS + 1);
}
