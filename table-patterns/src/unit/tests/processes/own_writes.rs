//! Tests that a process does not mistake its own writes outside transactions for writes of another process.

use pollster::block_on;
use table_core::embedded::Engine;

use super::{Counter, post};
use crate::EntityStore;
use crate::entities::Entities;
use crate::tests::faults::{Call, FaultyStore};

type Counters = Entities<Counter, FaultyStore<Engine>>;

/// Writes the counter outside of transactions.
type Write = fn(&Counters);

fn unit(counters: &Counters) {
    let found = block_on(counters.get(Counter::key("t"))).unwrap().expect("inserted");
    let mut unit = counters.unit(Counter::partition("t")).unwrap();
    unit.update(&found, |counter| counter.value += 1).unwrap();
    block_on(unit.commit()).unwrap();
}

fn update(counters: &Counters) {
    block_on(counters.update(Counter::key("t"), |counter| counter.value += 1)).unwrap();
}

fn bulk(counters: &Counters) {
    let counter = Counter { tenant: "t".into(), value: 5 };
    block_on(counters.bulk().insert_or_replace_all(&[counter])).unwrap();
}

const WRITES: [(&str, Write); 6] = [
    ("update", update),
    ("patch", |counters| {
        block_on(counters.patch(Counter::key("t")).set(Counter::VALUE, 7).send()).unwrap();
    }),
    ("replace", |counters| {
        let found = block_on(counters.get(Counter::key("t"))).unwrap().expect("inserted");
        let counter = Counter { tenant: "t".into(), value: 9 };
        block_on(counters.replace(&counter, found.etag().clone())).unwrap();
    }),
    ("bulk", bulk),
    ("unit", unit),
    ("delete and insert", |counters| {
        let found = block_on(counters.get(Counter::key("t"))).unwrap().expect("inserted");
        block_on(counters.delete(Counter::key("t"), found.etag())).unwrap();
        block_on(counters.insert(&Counter { tenant: "t".into(), value: 1 })).unwrap();
    }),
];

fn counters() -> (FaultyStore<Engine>, Counters) {
    let store = FaultyStore::new(Engine::in_memory());
    let counters = block_on(store.entities::<Counter>().create_if_missing()).unwrap();
    block_on(counters.insert(&Counter { tenant: "t".into(), value: 0 })).unwrap();
    block_on(post(&counters));
    (store, counters)
}

#[test]
fn writes_outside_transactions_are_known_to_the_transactions_of_the_process() {
    for (name, write) in WRITES {
        let (store, counters) = counters();
        for _ in 0..2 {
            write(&counters);
            store.heal();
            block_on(post(&counters));
            assert_eq!(store.calls(), [Call::Get, Call::Get, Call::Submit], "{name}");
        }
    }
}

/// Tests a process that overwrites a row of another process. It must still notice the other process, which may have made a reservation.
#[test]
fn a_write_on_top_of_another_process_does_not_hide_it() {
    for (name, write) in WRITES.into_iter().filter(|(name, _)| ["update", "replace", "unit"].contains(name)) {
        let (store, counters) = counters();
        block_on(post(&store.entities::<Counter>()));
        write(&counters);
        write(&counters);
        store.heal();
        block_on(post(&counters));
        assert!(store.calls().contains(&Call::Query), "{name}: {:?}", store.calls());
    }
}
