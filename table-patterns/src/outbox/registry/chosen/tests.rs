//! Tests which registered partitions a sweep reads, and how many partitions it holds in memory.

use std::collections::BTreeMap;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use table_core::ErrorCode;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::operation::OperationKind;
use table_core::retry::Retry;
use table_core::runtime::{Runtime, ticks_of};
use table_core::testing::LimitedStore;

use super::*;
use crate::outbox::REGISTRY;
use crate::outbox::registry::entry::{Mark, marked, registration};
use crate::outbox::registry::{kept, key_of, may_be_quiet, put, renew};
use crate::tests::faults::FaultyStore;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// The time, in ticks, at which the last grant expires.
const UNTIL: u64 = 710_000_000_000_000_000;

type Store = FaultyStore<LimitedStore<Engine>>;

/// A registered partition in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Quiet,
    Erased,
    /// A quiet partition that a grant makes active.
    QuietKept,
    /// An erased partition that a grant makes active.
    ErasedKept,
}

fn store(is_ordered: bool, page: usize) -> Store {
    let limited = LimitedStore::new(Engine::in_memory(), |capabilities| capabilities.ordered = is_ordered);
    FaultyStore::new(if is_ordered { limited } else { limited.shuffled(1_000) }).pages_of(page)
}

fn register(store: &Store, number: usize, state: State) {
    let (table, partition) =
        (TableName::new("Company").unwrap(), PartitionKey::new(format!("p{number}")).unwrap());
    let key = key_of(&table, &partition).unwrap();
    let row = match state {
        State::Active => registration(&table, None),
        State::Quiet | State::QuietKept => marked(&table, Mark::Quiet),
        State::Erased | State::ErasedKept => marked(&table, Mark::Erased),
    };
    block_on(async {
        put(store, REGISTRY, &key, OperationKind::InsertOrReplace(row)).await?;
        if matches!(state, State::QuietKept | State::ErasedKept) {
            for until in [700_000_000_000_000_000, UNTIL, 690_000_000_000_000_000] {
                kept::keep((store, &Retry::default()), &table, &partition, until).await?;
            }
            renew(store, &table, &partition).await?;
        }
        Ok::<_, Error>(())
    })
    .unwrap();
}

fn read(store: &Store, most: usize, runtime: &Runtime) -> Vec<Entry> {
    let fail = |error| panic!("{error}");
    block_on(chosen(store, REGISTRY, (most, || runtime.random()), fail)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn pat_ec_8_a_sweep_reads_each_active_partition_once_and_some_of_the_quiet_ones(
        states in prop::collection::vec(
            prop::sample::select(vec![
                State::Active, State::Quiet, State::Quiet, State::Erased, State::QuietKept, State::ErasedKept,
            ]),
            0..40,
        ),
        (most, page, is_ordered) in (0..8_usize, prop_oneof![1..4_usize, Just(1_000)], any::<bool>()),
    ) {
        let store = store(is_ordered, page);
        for (number, state) in states.iter().enumerate() {
            register(&store, number, *state);
        }
        let found = read(&store, most, &Runtime::new());
        let mut times = BTreeMap::new();
        for entry in &found {
            let number: usize = entry.partition_key.as_str()[1..].parse().unwrap();
            *times.entry(number).or_insert(0) += 1;
            let state = states[number];
            let is_kept = matches!(state, State::QuietKept | State::ErasedKept);
            prop_assert_eq!(entry.until, if is_kept { UNTIL } else { 0 });
            let hours = |hours: u64| UNTIL + hours * ticks_of(HOUR);
            prop_assert!(!is_kept || (!may_be_quiet(entry, hours(1)) && may_be_quiet(entry, hours(2))));
            prop_assert_eq!(entry.is_quiet, state == State::Quiet);
            prop_assert_eq!(entry.is_erased, state == State::Erased);
        }
        prop_assert!(times.values().all(|times| *times == 1), "{:?}", times);
        let states = &states;
        let numbers = |quiet| (0..states.len()).filter(move |at| (states[*at] == State::Quiet) == quiet);
        prop_assert!(numbers(false).all(|at| times.contains_key(&at)));
        let quiet = numbers(true).count();
        prop_assert_eq!(numbers(true).filter(|at| times.contains_key(at)).count(), quiet.min(most));
    }
}

/// Tests that a sample is uniform for any number of items. The tolerance is about six standard deviations.
#[test]
fn each_item_is_in_the_sample_equally_often_and_the_sample_stays_small() {
    let runtime = Runtime::new();
    for count in [64_usize, 100, 1_000] {
        let mut times = vec![0_u32; count];
        for _ in 0..2_000 {
            let mut sample = Sample::new(64);
            for item in 0..count {
                sample.offer(item, || runtime.random());
                assert!(sample.items.len() <= 64);
            }
            sample.items.iter().for_each(|item| times[*item] += 1);
        }
        let share = 64.0 / f64::from(u32::try_from(count).unwrap());
        let (expected, tolerance) = (2_000.0 * share, 6.0 * (2_000.0 * share * (1.0 - share)).sqrt());
        let is_near = |times: &u32| (f64::from(*times) - expected).abs() <= tolerance;
        assert!(times.iter().all(is_near), "{count} items: {times:?}, expected {expected}");
    }
}

/// Tests a registration that another program has replaced with a row that the store cannot represent.
#[test]
fn pat_ec_8_a_registration_that_pages_omit_is_reported_with_its_key_if_it_is_known() {
    let store = store(true, 1_000);
    (0..3).for_each(|number| register(&store, number, State::Active));
    let table = TableName::new("Company").unwrap();
    let strange = key_of(&table, &PartitionKey::new("p1").unwrap()).unwrap();
    let known = Some((strange.partition_key.as_str(), strange.row_key.as_str()));
    for (property, key) in [("Table", known), ("RowKey", None)] {
        let of = strange.clone();
        store.misread((property, ErrorCode::EntityMismatch), move |_, key| *key == of);
        let mut errors = Vec::new();
        let found = block_on(chosen(&store, REGISTRY, (10, || 0), |error| errors.push(error))).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(errors.iter().map(Error::key).collect::<Vec<_>>(), [key], "{errors:?}");
    }
}
