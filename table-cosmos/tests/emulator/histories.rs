//! Tests of random programs run by several clients over a lossy network. The results are checked against a model (CON-11).
//!
//! The network loses requests before or after they are applied, delays and duplicates them, and responds with gateway statuses. All clients run on one thread
//! in virtual time. A search for a linearization then checks that the combined results are consistent: an acknowledged write happened once, a rejected write
//! did not happen, and an ambiguous write happened at most once.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::{KeyRange, Query};
use table_core::{TableName, TableStore};
use table_cosmos::emulator::Emulator;
use table_cosmos::{Format, Mapping, Options};
use tests::histories::{Actor, Recorder, Tally, check, prepare};
use tokio::time::sleep;

use crate::lossy::{LATEST, Lossy};

/// Runs the random history with the given seed.
fn run(seed: u64, options: &Options) -> Result<Tally, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(history(seed, options))
}

async fn history(seed: u64, options: &Options) -> Result<Tally, String> {
    let mut random = StdRng::seed_from_u64(seed);
    let (account, recorder) = (Emulator::new(false).unwrap(), Recorder::default());
    let table = TableName::new("Objects").unwrap();
    let calm = Lossy::new(account.clone(), 0, true);
    let owner = account.open_over(options.clone(), calm.clone()).await.unwrap();
    owner.create_table(&table).await.unwrap();
    prepare(&owner).await.unwrap();
    let (mut networks, mut tasks) = (Vec::new(), Vec::new());
    for number in 0..random.random_range(2..4_usize) {
        let own = random.random();
        let network = Lossy::new(account.clone(), own, false);
        let tables = account.open_over(options.clone(), network.clone()).await.unwrap();
        // This query opens the container before the first call. It may fail.
        let _ = tables.query(&table, &Query::new(KeyRange::partition("none")), None).await;
        networks.push(network.clone());
        let actor = Actor::new(number, tables, network, recorder.clone(), own);
        tasks.push(tokio::spawn(actor.work(random.random_range(2..6))));
    }
    let mut actors = Vec::new();
    for task in tasks {
        actors.push(task.await.map_err(|error| format!("seed {seed}: a program ended early: {error}"))?);
    }
    sleep(LATEST * 2).await;
    let last = Actor::new(actors.len(), owner, calm, recorder.clone(), seed).look().await;
    actors.into_iter().chain([last]).for_each(Actor::tell);
    let history = recorder.history();
    check(&history).map(|()| Tally::of(&history)).map_err(|report| {
        let mut text = format!("seed {seed}: {report}");
        for (client, network) in networks.iter().enumerate() {
            text.extend(["\nclient ", &client.to_string(), " sent:\n  ", &network.lines()]);
        }
        text
    })
}

/// Returns how many histories of each kind to run. The `TABLE_COSMOS_HISTORIES` environment variable overrides the default.
pub(crate) fn histories() -> u64 {
    std::env::var("TABLE_COSMOS_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

#[test]
fn con_11_all_responses_over_a_lossy_network_are_consistent() {
    let mut total = Tally::default();
    for seed in 0..histories() {
        total = total.and(run(seed, &Options::new()).unwrap_or_else(|report| panic!("{report}")));
    }
    println!("{total:?}");
    assert!(total.done > total.ambiguous * 4, "most calls have a definite answer: {total:?}");
    assert!(total.ambiguous > 0, "{total:?}");
}

/// Tests that the results are also consistent if at-most-once writes are disabled. More results are then ambiguous, but none is wrong, because each request is
/// sent only once.
#[test]
fn con_11_all_responses_without_exact_writes_are_consistent() {
    for seed in 0..histories() / 3 {
        run(seed, &Options::new().at_most_once_writes(false)).unwrap_or_else(|report| panic!("{report}"));
    }
}

/// Tests that the results are consistent in another program's container. There, every write reads the item first, even with at-most-once writes disabled.
#[test]
fn con_11_and_wire_6_answers_over_a_mapped_container_can_be_true() {
    let mapping = Mapping::new(["/owner/id"])
        .property("A", "/a", Format::Int32)
        .property("B", "/nested/b", Format::Int32)
        .property("N", "/nested/count", Format::Int64)
        .constant("/kind", "object");
    let options = Options::new().at_most_once_writes(false).mapping("Objects", mapping).unwrap();
    let mut total = Tally::default();
    for seed in 0..histories() / 3 {
        total = total.and(run(seed, &options).unwrap_or_else(|report| panic!("{report}")));
    }
    println!("{total:?}");
    assert!(total.done > total.ambiguous * 4, "most calls have a definite answer: {total:?}");
}
