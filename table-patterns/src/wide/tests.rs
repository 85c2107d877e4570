mod damaged;
mod declared;
mod header;
mod names;
mod releases;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::retry::Retry;
use table_core::{Entity, ErrorCode, Selection, TableEntity, TableStoreExt};

use super::*;
use crate::slot_names;
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};

#[derive(Wide, Clone, Debug, PartialEq)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(year)]
struct YearOfCounts {
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    office: Option<String>,
    #[slots("Day", 1..=366)]
    days: Vec<Option<i32>>,
}

const DAYS: WideSlots<YearOfCounts, Vec<Option<i32>>> = YearOfCounts::DAYS;

type Counts = WideTable<YearOfCounts, FaultyStore<Engine>>;

fn year_of(count: i32) -> YearOfCounts {
    YearOfCounts { employee: 123, year: 2014, office: Some("Oslo".into()), days: vec![Some(count); 366] }
}

fn key() -> Selection<YearOfCountsKey, table_core::selection::Point> {
    YearOfCounts::key(123, 2014)
}

fn counts() -> (Counts, FaultyStore<Engine>) {
    let store = FaultyStore::new(Engine::in_memory());
    let counts = block_on(store.wide::<YearOfCounts>().create_if_missing()).unwrap();
    store.heal();
    let retry = Retry::new(64, Duration::from_micros(10), Duration::from_millis(1));
    (counts.with_retry(retry), store)
}

/// Returns a handle to the same table. It reads one row per page.
fn in_small_pages(counts: &Counts, store: &FaultyStore<Engine>) -> Counts {
    WideTable::new(store.clone().pages_of(1).table()).with_retry(counts.retry().clone())
}

fn days(counts: &Counts) -> Vec<Option<i32>> {
    block_on(counts.get(key())).unwrap().unwrap().0.days
}

#[test]
fn pat_wide_1_the_layout_matches_the_catalogue() {
    let (counts, store) = counts();
    block_on(sendable(counts.insert(&year_of(7)))).unwrap();
    let rows =
        block_on(store.untyped("MessageCounts").unwrap().query(Selection::partition("000123")).collect());
    let line = |row: &TableEntity| {
        let names: Vec<&str> = row.iter().map(|(name, _)| name).collect();
        let (first, last) = (names[..3].join(" "), names[names.len() - 2..].join(" "));
        format!("{} | {} | {first} … {last}", row.key().partition_key, row.key().row_key)
    };
    let layout: Vec<String> = rows.unwrap().iter().map(line).collect();
    insta::assert_snapshot!(layout.join("\n"), @r"
    000123 | 2014_01 | Office Day001 Day002 … Day250 WriteId
    000123 | 2014_02 | Day251 Day252 Day253 … Day366 WriteId
    ");
}

#[test]
fn pat_wide_3_a_full_read_is_one_request_and_a_slot_is_one_merge() {
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(7))).unwrap();
    assert_eq!(store.calls(), [Call::Submit]);
    store.heal();
    block_on(sendable(counts.set(key(), DAYS.at(300), 8))).unwrap();
    assert_eq!(store.calls(), [Call::Submit]);
    store.heal();
    let (found, _) = block_on(counts.get(key())).unwrap().unwrap();
    assert_eq!(store.calls(), [Call::Query]);
    let mut expected = year_of(7);
    expected.days[299] = Some(8);
    assert_eq!(found, expected);
    assert_eq!(block_on(sendable(counts.get(YearOfCounts::key(123, 2015)))).unwrap(), None);
}

#[test]
fn pat_wide_3_a_read_during_a_write_never_mixes_versions() {
    for at in 0..2 {
        let (counts, store) = counts();
        block_on(counts.insert(&year_of(1))).unwrap();
        let reader = in_small_pages(&counts, &store);
        let writes: [fn(&Counts); 4] = [
            |counts| block_on(counts.insert_or_replace(&year_of(2))).map(drop).unwrap(),
            |counts| {
                let patch = (1..=366).fold(counts.patch(key()), |patch, day| patch.set(DAYS.at(day), 2));
                block_on(patch.send()).unwrap();
            },
            |counts| block_on(counts.update(key(), |year| year.days.fill(Some(2)))).map(drop).unwrap(),
            |counts| {
                let version = block_on(counts.get(key())).unwrap().unwrap().1;
                block_on(counts.delete(key(), &version)).unwrap();
                block_on(counts.insert(&year_of(2))).unwrap();
            },
        ];
        for write in writes {
            block_on(counts.insert_or_replace(&year_of(1))).unwrap();
            let other = counts.clone();
            store.script(move |_, number| {
                let other = other.clone();
                if number == at { Fault::Meanwhile(Box::new(move || write(&other))) } else { Fault::None }
            });
            let found = days(&reader);
            assert!(found.iter().all(|day| *day == found[0]), "request {at}: {found:?}");
            store.heal();
            assert!(days(&counts).iter().all(|day| *day == Some(2)));
        }
    }
}

#[test]
fn pat_wide_3_readers_concurrent_with_a_writer_see_whole_writes() {
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(0))).unwrap();
    let reader = in_small_pages(&counts, &store);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for count in 1..60 {
                block_on(counts.insert_or_replace(&year_of(count))).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::SeqCst) {
                // A read during the backoff may overlap with a write, but no read may return a partial write.
                match block_on(reader.get(key())) {
                    Ok(found) => {
                        let found = found.unwrap().0.days;
                        assert!(found.iter().all(|day| *day == found[0]), "{found:?}");
                        assert!(found[0] >= Some(last));
                        last = found[0].unwrap();
                    }
                    Err(error) => assert_eq!(error.rule(), Some("PAT-WIDE-3")),
                }
            }
        });
    });
    assert_eq!(days(&reader), vec![Some(59); 366]);
}

#[test]
fn pat_wide_4_a_missing_part_is_an_error() {
    for missing in ["2014_01", "2014_02"] {
        let (counts, store) = counts();
        block_on(counts.insert(&year_of(7))).unwrap();
        let raw = store.untyped("MessageCounts").unwrap();
        block_on(raw.delete(Selection::point("000123", missing), IfMatch::Any)).unwrap();
        store.heal();
        let error = block_on(counts.get(key())).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
        assert_eq!(error.key(), Some(("000123", "2014")));
        assert_eq!(store.calls(), [Call::Query; 2], "a second look, and no more");
        let patch = counts.patch(key()).set(DAYS.at(1), 1).set(DAYS.at(366), 1);
        assert_eq!(block_on(patch.send()).unwrap_err().code(), ErrorCode::EntityMismatch);
    }
}

/// Creates an entity whose second part is missing, and a store in which another writer sets a slot of the first part before each read. This changes only the
/// `ETag` of the part.
fn counts_without_a_part() -> (Counts, FaultyStore<Engine>) {
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(7))).unwrap();
    let raw = store.untyped("MessageCounts").unwrap();
    block_on(raw.delete(Selection::point("000123", "2014_02"), IfMatch::Any)).unwrap();
    let (other, mut value) = (store.inner().wide::<YearOfCounts>(), 0);
    store.script(move |call, _| {
        value += 1;
        let (other, value) = (other.clone(), value);
        match call {
            Call::Query => {
                Fault::Meanwhile(Box::new(move || block_on(other.set(key(), DAYS.at(1), value)).unwrap()))
            }
            _ => Fault::None,
        }
    });
    (counts, store)
}

#[test]
fn pat_wide_4_a_missing_part_is_reported_while_a_slot_is_written_before_each_read() {
    let (counts, store) = counts_without_a_part();
    let error = block_on(counts.get(key())).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
    assert_eq!(store.calls(), [Call::Query; 2]);
}

#[test]
fn pat_wide_4_an_entity_that_has_one_part_is_recognised_while_a_slot_is_written_before_each_read() {
    #[derive(Wide, Clone)]
    #[entity(table = "MessageCounts")]
    #[partition_key(employee)]
    #[row_key(year)]
    struct First {
        #[digits(6)]
        employee: u32,
        #[digits(4)]
        year: u16,
        #[slots("Day", 1..=250)]
        days: Vec<Option<i32>>,
    }
    let (counts, store) = counts_without_a_part();
    // The entity had two parts. The caller does not know that it has already been converted to one part.
    let first = store.wide::<First>().with_retry(counts.retry().clone());
    assert!(!block_on(first.resize(First::key(123, 2014), 2)).unwrap());
}

#[test]
fn pat_wide_4_a_part_written_by_itself_is_an_error() {
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(7))).unwrap();
    let raw = store.untyped("MessageCounts").unwrap();
    block_on(raw.insert_or_replace(&TableEntity::new("000123", "2014_02").unwrap().with("Day251", 1)))
        .unwrap();
    assert_eq!(block_on(counts.get(key())).unwrap_err().rule(), Some("PAT-WIDE-4"));
    block_on(counts.insert_or_replace(&year_of(8))).unwrap();
    // A row whose key lies between the keys of the parts is not a part.
    block_on(raw.insert(&TableEntity::new("000123", "2014_01_07").unwrap().with("Day001", 1))).unwrap();
    assert_eq!(days(&counts), vec![Some(8); 366]);
}

#[test]
fn pat_wide_2_a_write_that_fails_changes_no_part() {
    let (counts, store) = counts();
    let version = block_on(counts.insert(&year_of(1))).unwrap();
    block_on(counts.set(key(), DAYS.at(366), 5)).unwrap();
    let error = block_on(counts.replace(&year_of(2), &version)).unwrap_err();
    assert!(error.is_precondition_failed() && error.operation() == Some(1));
    assert!(block_on(counts.delete(key(), &version)).unwrap_err().is_precondition_failed());
    assert!(block_on(counts.insert(&year_of(3))).unwrap_err().is_already_exists());
    store.fail_at(0);
    assert!(block_on(counts.insert_or_replace(&year_of(4))).is_err());
    store.heal();
    let mut expected = vec![Some(1); 366];
    expected[365] = Some(5);
    assert_eq!(days(&counts), expected);
}

#[test]
fn pat_wide_3_updates_lose_nothing() {
    let (counts, _) = counts();
    block_on(counts.insert(&year_of(0))).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let counts = counts.clone();
            scope.spawn(move || {
                for _ in 0..10 {
                    let add = |year: &mut YearOfCounts| {
                        year.days.iter_mut().for_each(|day| *day = day.map(|count| count + 1));
                    };
                    block_on(sendable(counts.update(key(), add))).unwrap();
                }
            });
        }
    });
    assert_eq!(days(&counts), vec![Some(40); 366]);
}

#[test]
fn pat_wide_1_misuse_is_refused() {
    let (counts, _) = counts();
    block_on(counts.insert(&year_of(1))).unwrap();
    for patch in [
        counts.patch(key()),
        counts.patch(key()).set(DAYS.at(367), 1),
        counts.patch(key()).set(DAYS.at(1), 1).set(DAYS.at(1), 2),
        counts.patch(key()).set(DAYS.at(1), None),
    ] {
        assert!(block_on(patch.send()).unwrap_err().is_invalid_input());
    }
    let error = block_on(counts.update(key(), |year| year.year = 2015)).unwrap_err();
    assert_eq!(error.rule(), Some("UPD-6"));
    assert!(block_on(counts.update(YearOfCounts::key(9, 9), |_| {})).unwrap_err().is_not_found());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Tests that a wide entity agrees with a model, which is a single array.
    #[test]
    fn pat_wide_2_and_4_a_wide_entity_behaves_like_an_array(
        whole in prop::collection::vec(prop::option::of(any::<i32>()), 366),
        slots in prop::collection::vec((prop::collection::btree_map(1_usize..=366, any::<i32>(), 1..4), any::<bool>()), 0..12),
    ) {
        let (counts, _) = counts();
        let mut model = YearOfCounts { days: whole, ..year_of(0) };
        block_on(counts.insert(&model)).unwrap();
        for (values, replace) in slots {
            for (day, value) in &values {
                model.days[day - 1] = Some(*value);
            }
            if replace {
                block_on(counts.update(key(), |year| year.days.clone_from(&model.days))).unwrap();
            } else {
                let mut patch = counts.patch(key());
                for (day, value) in &values {
                    patch = patch.set(DAYS.at(*day), *value);
                }
                block_on(patch.send()).unwrap();
            }
            prop_assert_eq!(&block_on(counts.get(key())).unwrap().unwrap().0, &model);
        }
    }
}
