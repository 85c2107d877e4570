use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;
use table_core::ticks;

use super::*;

const SECOND: u64 = 10_000_000;

/// Creates an empty `PartitionLoad`. Also returns the time of its clock, in ticks.
fn load() -> (PartitionLoad, Arc<AtomicU64>) {
    let time = Arc::new(AtomicU64::new(ticks::UNIX_EPOCH));
    let clock = Arc::clone(&time);
    (PartitionLoad::new(Clock::new(move || clock.load(Ordering::Relaxed))), time)
}

#[test]
fn a_hot_partition_is_first_among_many() {
    let (load, _) = load();
    for number in 0..20_000_u32 {
        let partition = if number % 3 == 0 { "hot".to_owned() } else { format!("cold {number}") };
        load.record("employee", &partition);
    }
    let busiest = load.busiest();
    assert_eq!((busiest[0].partition_key.as_str(), busiest[0].last_minute()), ("hot", 6_667));
    assert!(busiest.len() <= COUNTED, "{} partitions", busiest.len());
    assert_eq!(load.last_minute(), 20_000);
}

#[test]
fn requests_leave_the_minute_and_the_hour() {
    let (load, time) = load();
    load.record("employee", "Sales");
    time.fetch_add(30 * SECOND, Ordering::Relaxed);
    load.record("employee", "Sales");
    let sales = || load.of("employee", "Sales").unwrap();
    assert_eq!((sales().last_minute(), sales().last_hour()), (2, 2));
    time.fetch_add(45 * SECOND, Ordering::Relaxed);
    assert_eq!((sales().last_minute(), sales().last_hour(), load.last_minute()), (1, 2, 1));
    time.fetch_add(3_600 * SECOND, Ordering::Relaxed);
    assert_eq!((sales().last_minute(), sales().last_hour()), (0, 0));
    assert_eq!((load.busiest(), load.of("employee", "Support")), (vec![], None));
}

#[test]
fn counts_follow_a_clock_that_was_ahead_and_is_corrected() {
    let (load, time) = load();
    time.fetch_add(86_400 * SECOND, Ordering::Relaxed);
    for _ in 0..1_000 {
        load.record("employee", "old");
    }
    time.fetch_sub(86_400 * SECOND, Ordering::Relaxed);
    assert_eq!((load.last_minute(), load.busiest()), (0, vec![]));
    for _ in 0..20 {
        load.record("employee", "Sales");
        time.fetch_add(30 * SECOND, Ordering::Relaxed);
    }
    let sales = load.of("employee", "Sales").unwrap();
    assert_eq!((sales.last_minute(), sales.last_hour(), load.last_minute()), (1, 20, 1));
    let old = load.of("employee", "old").unwrap();
    assert_eq!((old.last_minute(), old.last_hour()), (0, 0));
    // The weights have been halved again, so the other partitions get the slot.
    time.fetch_add(4 * 3_600 * SECOND, Ordering::Relaxed);
    for number in 0..2 * COUNTED {
        load.record("employee", &number.to_string());
    }
    assert_eq!(load.of("employee", "old"), None);
}

#[test]
fn a_partition_that_was_busy_long_ago_gives_its_slot_away() {
    let (load, time) = load();
    for _ in 0..10_000 {
        load.record("employee", "old");
    }
    time.fetch_add(4 * 3_600 * SECOND, Ordering::Relaxed);
    for number in 0..2 * COUNTED {
        load.record("employee", &number.to_string());
    }
    assert_eq!(load.of("employee", "old"), None);
}

#[test]
fn tables_are_told_apart_and_keys_are_not_printed() {
    let (load, _) = load();
    load.record("a", "bc");
    load.record("ab", "c");
    assert_eq!(load.busiest().len(), 2);
    assert!(!format!("{load:?}").contains("bc"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Tests that frequent partitions are always counted, even if there are more partitions than slots. No count may be too high, and no weight too low.
    #[test]
    fn frequent_partitions_are_counted(requests in vec((0..3_u8, 0..4_000_u16), 1..4_000)) {
        let (load, _) = load();
        let mut exact: BTreeMap<String, u64> = BTreeMap::new();
        for (kind, number) in requests {
            // A third of the requests go to a few frequent partitions.
            let partition = if kind == 0 { format!("few {}", number % 20) } else { number.to_string() };
            load.record("employee", &partition);
            *exact.entry(partition).or_default() += 1;
        }
        let all: u64 = exact.values().sum();
        prop_assert_eq!(load.last_minute(), all);
        for (partition, count) in &exact {
            match load.of("employee", partition) {
                Some(found) => {
                    prop_assert!(found.last_hour() <= *count && found.last_hour() == found.last_minute());
                    prop_assert!(found.weight >= *count, "{} of {count}", found.weight);
                }
                None => prop_assert!(*count <= all / COUNTED as u64, "{partition} has {count} of {all}"),
            }
        }
    }
}
