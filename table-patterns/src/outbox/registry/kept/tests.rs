use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pollster::block_on;
use table_core::embedded::Engine;

use super::*;
use crate::outbox::registry::mark_erased;
use crate::tests::faults::{Call, Fault, FaultyStore};

const SHORT: u64 = 700_000_000_000_000_000;
const LONG: u64 = 710_000_000_000_000_000;

/// Runs a short grant while another program does `meanwhile` at the given request. Returns the time in the registration, `true` if it is
/// marked as erased, and `true` if the request was sent.
fn run(
    request: usize,
    meanwhile: impl Fn(&Engine, &TableName, &PartitionKey) + Send + 'static,
) -> (u64, bool, bool) {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let (table, partition) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    let retry = Retry::default();
    block_on(keep((&engine, &retry), &table, &partition, 1)).unwrap();
    let other = (engine.clone(), table.clone(), partition.clone());
    let is_sent = Arc::new(AtomicBool::new(false));
    let sent = Arc::clone(&is_sent);
    let mut meanwhile = Some(move || meanwhile(&other.0, &other.1, &other.2));
    store.script(move |_: Call, number| match meanwhile.take_if(|_| number == request) {
        Some(meanwhile) => {
            sent.store(true, Ordering::SeqCst);
            Fault::Meanwhile(Box::new(meanwhile))
        }
        None => Fault::None,
    });
    block_on(keep((&store, &retry), &table, &partition, SHORT)).unwrap();
    let (registry, key) = (TableName::new(REGISTRY).unwrap(), key_of(&table, &partition).unwrap());
    let found = block_on(engine.get(&registry, &key, &Select::All)).unwrap().unwrap();
    (active_until(found.row.view()), is_erased(found.row.view()), is_sent.load(Ordering::SeqCst))
}

#[test]
fn a_grant_does_not_shorten_a_concurrent_grant() {
    let mut requests = 0;
    while let (until, _, true) = run(requests, |engine, table, partition| {
        block_on(keep((engine, &Retry::default()), table, partition, LONG)).unwrap();
    }) {
        assert_eq!(until, LONG, "request {requests}");
        requests += 1;
    }
    assert!(requests >= 3);
}

#[test]
fn a_grant_removes_the_mark_of_a_concurrent_erasure() {
    let mut requests = 0;
    while let (until, is_erased, true) = run(requests, |engine, table, partition| {
        assert!(block_on(mark_erased(engine, table, partition)).unwrap());
    }) {
        assert_eq!((until, is_erased), (SHORT, false), "request {requests}");
        requests += 1;
    }
    assert!(requests >= 3);
}
