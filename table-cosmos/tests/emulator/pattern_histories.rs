//! Tests of random programs run by several writers over a lossy network, with indexes, an outbox, a change feed and a view (CON-11).
//!
//! Each writer, the worker and the view updater have separate clients, whose networks lose, delay and duplicate requests. After recovery over a fault-free
//! network, the indexes, the feed and the view must match the entities. Every acknowledged increment must have been applied once, and no rejected increment may
//! have been applied. In half of the histories, the deals are items in another program's container.

mod check;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::EngineOptions;
use table_core::retry::Retry;
use table_core::{Clock, Engine, Entity, Error, IfMatch, QueueName, Result};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Format, Mapping, Options};
use table_patterns::feed::Feed;
use table_patterns::outbox::Outbox;
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::{Runtime, Worker, WorkerOptions};
use table_patterns::{Entities, EntityStore};
use tokio::time::{Instant, sleep, timeout};

use check::checked;

use crate::histories::histories;
use crate::lossy::{LATEST, Lossy};

const TEAM: &str = "red";
/// The number of counted deals, which are only incremented. All other deals are inserted, replaced and deleted.
const COUNTED: u32 = 2;
const DEALS: u32 = 4;
const STATES: [&str; 2] = ["open", "won"];

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Deals", feed)]
#[partition_key(team)]
#[row_key("deal_", id)]
#[index(ByState, row_key("state_", state, "_", id))]
#[index(Badges, unique, table = "Badges", partition_key(badge), row_key("b"))]
struct Deal {
    team: String,
    #[digits(2)]
    id: u32,
    #[without('_')]
    state: String,
    badge: String,
    cents: i64,
}

/// A view row. Each state has one row with the totals of its deals, and one row per deal.
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Totals")]
#[partition_key(state)]
#[row_key(row)]
struct Total {
    state: String,
    row: String,
    deals: i64,
    cents: i64,
}

struct Totals;

impl View for Totals {
    type Source = Deal;
    type Row = Total;

    fn project(deal: &Deal, view: &mut Projection<Total>) -> Result<()> {
        view.add(Total::key(&deal.state, "all"), Total::DEALS, 1)?;
        view.add(Total::key(&deal.state, "all"), Total::CENTS, deal.cents)?;
        let row = format!("deal_{:02}", deal.id);
        view.put(&Total { state: deal.state.clone(), row, deals: 1, cents: deal.cents })
    }
}

type Work = Outbox<CosmosTables, Engine>;

/// The handles of a single process.
struct Process {
    deals: Entities<Deal, CosmosTables, Work>,
    view: ViewTable<Totals, CosmosTables>,
    worker: Worker<CosmosTables, Engine>,
    outbox: Work,
}

impl Process {
    fn new(store: &CosmosTables, queue: Engine, clock: Clock, seed: u64) -> Self {
        let runtime = Runtime::new().clock(clock).sleep_by(|time| Box::pin(sleep(time))).seed(seed);
        let retry = Retry::new(16, Duration::from_millis(5), Duration::from_millis(200));
        let retry = retry.with_runtime(runtime.clone());
        let name = QueueName::new("work").unwrap();
        let outbox = Outbox::with_runtime(store.clone(), queue, name, runtime.clone());
        let feed = || Feed::with_runtime(store.clone(), runtime.clone());
        let deals = store.entities_with_outbox::<Deal, _>(outbox.clone());
        let deals = deals.with_runtime(runtime.clone()).with_retry(retry.clone()).with_feed(feed());
        let view = ViewTable::new(store.clone()).with_feed(feed()).with_retry(retry);
        let options =
            WorkerOptions { messages_per_receive: 3, poison_after: 1_000, ..WorkerOptions::default() };
        let worker = Worker::with_options(outbox.clone(), options).with_index_handler(&deals);
        Self { deals, view, worker, outbox }
    }
}

/// An increment of a counted deal by a unique power of two, so the sum shows which increments were applied.
#[derive(Debug)]
struct Increment {
    id: u32,
    bit: u32,
    outcome: Result<()>,
}

struct Writer {
    process: Process,
    random: StdRng,
    bits: Arc<AtomicU32>,
    increments: Vec<Increment>,
}

impl Writer {
    fn deal(&mut self) -> Deal {
        let id = self.random.random_range(COUNTED..DEALS);
        let state = STATES[self.random.random_range(0..STATES.len())].to_owned();
        // Each badge belongs to a single deal, because a uniqueness violation across partitions could only be resolved manually.
        let badge = format!("{id}-{}", self.random.random_range(0..2));
        Deal { team: TEAM.to_owned(), id, state, badge, cents: self.random.random_range(0..100) }
    }

    async fn work(mut self, calls: usize) -> Vec<Increment> {
        for _ in 0..calls {
            sleep(Duration::from_millis(self.random.random_range(0..400))).await;
            // Some calls are cancelled at an arbitrary time.
            let limit = match self.random.random_range(0..12) {
                0 => Duration::from_millis(self.random.random_range(1..300)),
                _ => Duration::from_secs(100_000),
            };
            if self.random.random_bool(0.5) {
                let (id, bit) =
                    (self.random.random_range(0..COUNTED), self.bits.fetch_add(1, Ordering::Relaxed));
                let state = STATES[self.random.random_range(0..STATES.len())];
                let change = |deal: &mut Deal| {
                    deal.cents += 1 << bit;
                    state.clone_into(&mut deal.state);
                };
                let call = self.process.deals.update(Deal::key(TEAM, id), change);
                let outcome = timeout(limit, call).await;
                let outcome = outcome.map_or_else(|_| Err(dropped()), |result| result.map(drop));
                self.increments.push(Increment { id, bit, outcome });
            } else {
                // The outcome is ignored, because the derived rows are checked later.
                let _ = timeout(limit, self.churn()).await;
            }
        }
        self.increments
    }

    async fn churn(&mut self) -> Result<()> {
        let deal = self.deal();
        let key = || Deal::key(TEAM, deal.id);
        let deals = &self.process.deals;
        match self.random.random_range(0..8) {
            0..=2 => deals.insert(&deal).await.map(drop),
            3 => deals.insert_or_replace(&deal).await.map(drop),
            4 | 5 => {
                let change = |stored: &mut Deal| {
                    stored.state.clone_from(&deal.state);
                    stored.badge.clone_from(&deal.badge);
                    stored.cents += deal.cents;
                };
                deals.update(key(), change).await.map(drop)
            }
            _ => deals.delete(key(), IfMatch::Any).await,
        }
    }
}

fn dropped() -> Error {
    Error::new(table_core::ErrorCode::OperationTimedOut, "the call was dropped").into_ambiguous()
}

/// Returns options with a mapping of the deals for another program's container.
fn mapped() -> Options {
    let mapping = Mapping::new(["/team/name"]).property("State", "/state", Format::Text).property(
        "Cents",
        "/amount/cents",
        Format::Int64,
    );
    Options::new().mapping_of::<Deal>(mapping).unwrap()
}

/// Runs the random history with the given seed.
fn run(seed: u64) -> std::result::Result<usize, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(history(seed))
}

async fn history(seed: u64) -> std::result::Result<usize, String> {
    let mut random = StdRng::seed_from_u64(seed);
    let account = Emulator::new(false).unwrap();
    let options = if seed.is_multiple_of(2) { Options::new() } else { mapped() };
    let (start, now) = (Instant::now(), Runtime::new().now());
    let clock = Clock::new(move || {
        let passed = u64::try_from(start.elapsed().as_nanos() / 100).unwrap_or(u64::MAX);
        now.saturating_add(passed)
    });
    let queue = EngineOptions::new().clock(clock.clone()).in_memory();
    let calm = account.open_over(options.clone(), Lossy::new(account.clone(), 0, true)).await.unwrap();
    let owner = Process::new(&calm, queue.clone(), clock.clone(), seed);
    prepare(&owner).await.unwrap();
    let mut networks = Vec::new();
    let mut process = async |random: &mut StdRng| {
        let own = random.random();
        let network = Lossy::new(account.clone(), own, false);
        networks.push(network.clone());
        let store = account.open_over(options.clone(), network).await.unwrap();
        (Process::new(&store, queue.clone(), clock.clone(), own), own)
    };
    let (bits, mut writers) = (Arc::new(AtomicU32::new(0)), Vec::new());
    for _ in 0..random.random_range(2..4_usize) {
        let (process, own) = process(&mut random).await;
        let random_of_writer = StdRng::seed_from_u64(own);
        let writer = Writer { process, random: random_of_writer, bits: bits.clone(), increments: Vec::new() };
        writers.push(tokio::spawn(writer.work(random.random_range(3..7))));
    }
    let (follower, own) = process(&mut random).await;
    let others = tokio::spawn(follow(follower, StdRng::seed_from_u64(own)));
    let mut increments = Vec::new();
    for writer in writers {
        increments
            .extend(writer.await.map_err(|error| format!("seed {seed}: a writer ended early: {error}"))?);
    }
    others.await.map_err(|error| format!("seed {seed}: the follower ended early: {error}"))?;
    sleep(LATEST * 2).await;
    checked(&owner, &increments).await.map(|()| increments.len()).map_err(|report| {
        let mut text = format!("seed {seed}: {report}\n{increments:#?}");
        for (client, network) in networks.iter().enumerate() {
            let _ = write!(text, "\nclient {client} sent:\n  {}", network.lines());
        }
        text
    })
}

/// Creates the tables, and inserts the counted deals.
async fn prepare(owner: &Process) -> Result<()> {
    owner.outbox.create_queues().await?;
    let deals = owner.deals.clone().create_if_missing().await?;
    owner.view.clone().create_if_missing().await?.rebuild().run().await?;
    for id in 0..COUNTED {
        let (team, state) = (TEAM.to_owned(), STATES[0].to_owned());
        deals.insert(&Deal { team, id, state, badge: format!("{id}"), cents: 0 }).await?;
    }
    Ok(())
}

/// Processes the queue and updates the view while the writers run. Any of its requests may fail.
async fn follow(process: Process, mut random: StdRng) {
    for _ in 0..random.random_range(1..5) {
        sleep(Duration::from_millis(random.random_range(0..900))).await;
        let _ = process.worker.run_once().await;
        let _ = process.view.catch_up(random.random_range(1..6)).await;
    }
}

#[test]
fn con_11_indexes_feeds_and_views_follow_their_entities_over_a_lossy_network() {
    let mut increments = 0;
    for seed in 0..histories() / 3 {
        increments += run(seed).unwrap_or_else(|report| panic!("{report}"));
        if (seed + 1) % 1_000 == 0 {
            println!("{} histories", seed + 1);
        }
    }
    println!("{increments} increments");
    assert!(increments > 0);
}
