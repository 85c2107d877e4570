//! Tests that only the entries of one tenant are removed from remote indexes. Each page of entries must be removed before the next page is read.

use pollster::block_on;
use proptest::prelude::*;
use table_core::Entity;
use table_core::embedded::Engine;
use table_core::query::TextRange;
use table_core::queue::QueueName;
use table_core::testing::LimitedStore;

use crate::EntityStore;
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, FaultyStore};
use crate::work::Worker;

/// A parcel with a remote index of each kind. The list contains parcels of all tenants.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Parcels")]
#[partition_key(tenant)]
#[row_key("parcel_", number)]
#[index(ByCode, unique, table = "Codes", partition_key("code"), row_key(number, "_", tenant))]
#[index_entity(ByBelt, at_most = 1000, table = "Belts", partition_key("belt"), row_key(belt))]
struct Parcel {
    #[without('_')]
    tenant: String,
    #[digits(4)]
    number: u32,
    #[digits(2)]
    belt: u32,
}

type Store = FaultyStore<LimitedStore<Engine>>;
type Parcels = Entities<Parcel, Store, Outbox<Store, Engine>>;

/// Creates parcels of tenant `t0` and of tenant `t1`, with all index entries.
fn parcels(numbers: &[(bool, u32)], page: usize, is_ordered: bool) -> (Parcels, Store) {
    let engine = Engine::in_memory();
    let limited = LimitedStore::new(engine.clone(), |capabilities| capabilities.ordered = is_ordered);
    let store = FaultyStore::new(if is_ordered { limited } else { limited.shuffled(1_000) }).pages_of(page);
    let outbox = Outbox::new(store.clone(), engine, QueueName::new("parcels").unwrap());
    block_on(outbox.create_queues()).unwrap();
    let parcels = store.entities_with_outbox::<Parcel, _>(outbox.clone());
    let parcels = block_on(parcels.create_if_missing()).unwrap();
    for (is_first, number) in numbers {
        let tenant = if *is_first { "t0" } else { "t1" };
        let parcel = Parcel { tenant: tenant.into(), number: *number, belt: number % 7 };
        block_on(parcels.insert(&parcel)).unwrap();
    }
    block_on(Worker::new(outbox).with_index_handler(&parcels).run_until_idle()).unwrap();
    store.heal();
    (parcels, store)
}

fn count(parcels: &Parcels, tenant: &str) -> u64 {
    let left = block_on(parcels.count_entries_of(&[TextRange::exactly(tenant)])).unwrap();
    assert!(left.unreadable.is_empty() && left.skipped == 0, "{left:?}");
    left.rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn exactly_the_entries_of_a_tenant_are_removed_even_if_a_request_fails(
        numbers in prop::collection::btree_set((any::<bool>(), 0..40_u32), 0..30),
        (page, is_ordered, fail) in (1..12_usize, any::<bool>(), 0..80_usize),
    ) {
        let numbers = Vec::from_iter(numbers);
        let (parcels, store) = parcels(&numbers, page, is_ordered);
        let entries = |is_wanted: bool| {
            let own = || numbers.iter().filter(move |(is_first, _)| *is_first == is_wanted);
            let belts: std::collections::BTreeSet<_> = own().map(|(_, number)| number % 7).collect();
            (own().count(), belts.len())
        };
        let sum = |(codes, belts): (usize, usize)| u64::try_from(codes + belts).unwrap();
        let others = sum(entries(false));
        prop_assert_eq!((count(&parcels, "t0"), count(&parcels, "t1")), (sum(entries(true)), others));
        store.fail_at(fail);
        let first = block_on(parcels.remove_entries_of(&[TextRange::exactly("t0")]));
        let has_failed = fail < store.calls().len();
        store.heal();
        prop_assert_eq!(first.is_err(), has_failed);
        let second = block_on(parcels.remove_entries_of(&[TextRange::exactly("t0")])).unwrap();
        // Each parcel has an entry in both indexes.
        let all = u64::try_from(2 * entries(true).0).unwrap();
        match first {
            Ok(first) => prop_assert_eq!((first, second), (all, 0)),
            Err(_) => prop_assert!(second <= all),
        }
        prop_assert_eq!((count(&parcels, "t0"), count(&parcels, "t1")), (0, others));
    }
}

#[test]
fn a_page_of_entries_is_removed_before_the_next_page_is_read() {
    for count in [40, 160] {
        let (parcels, store) =
            parcels(&(0..count).map(|number| (true, number)).collect::<Vec<_>>(), 10, true);
        block_on(parcels.remove_entries_of(&[TextRange::exactly("t0")])).unwrap();
        let calls = store.calls();
        let read =
            calls.iter().take_while(|call| **call != Call::Submit).filter(|call| **call == Call::Query);
        assert_eq!(read.count(), 1, "{count} entries");
    }
}
