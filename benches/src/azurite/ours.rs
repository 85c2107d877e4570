//! Measures `table-azure` with typed entities, the typed table handle and default options.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use table_azure::AzureTables;
use table_core::query::Continuation;
use table_core::{Table, TableName, TableStoreExt};
use tokio::runtime::Runtime;

use crate::Outcome;
use crate::azurite::client::{AT_ONCE, Done, ENTITIES, READ, Work, busy};
use crate::data::{Random, Reading, number, site};
use crate::harness::Rate;

/// The number of the partition that contains the entities to read.
const PARTITION: u32 = 0;

/// A client for one server.
#[derive(Debug)]
pub struct Ours {
    runtime: Runtime,
    /// The table for insert workloads.
    written: Table<Reading, AzureTables>,
    /// The table for read workloads.
    read: Table<Reading, AzureTables>,
    next: AtomicU32,
}

impl Ours {
    /// Creates a client. Also creates the table for insert workloads, with the given name, if it does not exist.
    pub fn new(connection_string: &str, table: &str) -> Outcome<Self> {
        let client = AzureTables::from_connection_string(connection_string)?;
        let runtime = Runtime::new()?;
        let written = Table::new(client.clone(), TableName::new(table)?);
        runtime.block_on(client.create_table_if_missing(&TableName::new(table)?))?;
        let read = Table::new(client, TableName::new(READ)?);
        Ok(Self { runtime, written, read, next: AtomicU32::new(0) })
    }

    /// Creates the table for read workloads and inserts its entities.
    pub fn fill(&self) -> Outcome<()> {
        self.runtime.block_on(async {
            self.read.store().create_table_if_missing(&TableName::new(READ)?).await?;
            let all = (0..ENTITIES).map(|index| Reading {
                site: site(PARTITION),
                number: number(index % 1_000) + index / 1_000,
                ..Reading::at(index)
            });
            self.read.bulk().insert_all(all).await.map_err(|error| error.to_string())?;
            Ok(())
        })
    }

    fn fresh(&self) -> Reading {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Reading { site: site(index / 1_000), number: index, ..Reading::at(index % 4_000) }
    }

    /// Runs a workload for about the given time.
    pub fn work(&self, work: Work, time: Duration) -> Outcome<Done> {
        let (before, start) = (busy()?, Instant::now());
        let operations = self.runtime.block_on(self.operations(work, || start.elapsed() < time))?;
        let elapsed = start.elapsed();
        Ok(Done { rate: Rate { operations, elapsed }, busy: busy()?.saturating_sub(before) })
    }

    /// Performs the given number of operations of a workload. Returns the elapsed time.
    pub fn inserts(&self, work: Work, inserts: u64) -> Outcome<Duration> {
        let (start, mut left) = (Instant::now(), inserts);
        let more = || {
            left = left.saturating_sub(1);
            left > 0
        };
        self.runtime.block_on(self.operations(work, more))?;
        Ok(start.elapsed())
    }

    /// Performs operations of a workload while `more` returns `true`, but always at least one. Returns the number of operations.
    async fn operations(&self, work: Work, mut more: impl FnMut() -> bool) -> Outcome<u64> {
        let mut operations = 0;
        if work == Work::Pipelined {
            let mut first = true;
            let turns =
                stream::iter(std::iter::from_fn(|| (std::mem::take(&mut first) || more()).then_some(())));
            let inserts = turns.map(async |()| self.written.insert(&self.fresh()).await);
            let mut inserts = std::pin::pin!(inserts.buffer_unordered(AT_ONCE));
            while inserts.try_next().await?.is_some() {
                operations += 1;
            }
            return Ok(operations);
        }
        let mut random = Random::new(17);
        loop {
            match work {
                Work::Insert | Work::Pipelined => drop(self.written.insert(&self.fresh()).await?),
                Work::Batch => self.batch().await?,
                Work::Get => {
                    let index = random.below(ENTITIES);
                    let key = Reading::key(site(PARTITION), number(index % 1_000) + index / 1_000);
                    black_box(self.read.get(key).await?.ok_or("an entity is missing")?);
                }
                Work::Page => drop(self.page(None).await?),
            }
            operations += 1;
            if !more() {
                return Ok(operations);
            }
        }
    }

    async fn batch(&self) -> Outcome<()> {
        let index = self.next.fetch_add(2_000, Ordering::Relaxed).next_multiple_of(1_000);
        let partition = site(index / 1_000);
        let mut transaction = self.written.transaction(Reading::partition(partition.as_str()))?;
        for index in index..index + 100 {
            let reading = Reading { site: partition.clone(), number: index, ..Reading::at(index % 4_000) };
            transaction.insert(&reading)?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Reads the first page, or the page at a continuation token. Returns the token of the next page.
    async fn page(&self, from: Option<&Continuation>) -> Outcome<Option<Continuation>> {
        let query = self.read.query(Reading::partition(site(PARTITION)));
        let query = match from {
            Some(from) => query.page_from(from).await,
            None => query.page().await,
        };
        let page = black_box(query?);
        if page.items.len() == 1_000 { Ok(page.continuation) } else { Err("the page is short".into()) }
    }

    /// Reads all pages one by one and calls `work` after each page. Returns the elapsed time.
    pub fn one_by_one(&self, mut work: impl FnMut()) -> Outcome<Duration> {
        let start = Instant::now();
        self.runtime.block_on(async {
            let mut from = self.page(None).await?;
            work();
            while let Some(continuation) = from {
                from = self.page(Some(&continuation)).await?;
                work();
            }
            Ok(start.elapsed())
        })
    }

    /// Reads all pages as a stream of entities and calls `work` at the first entity of each page. Returns the elapsed time.
    pub fn streamed(&self, mut work: impl FnMut()) -> Outcome<Duration> {
        let start = Instant::now();
        let mut seen = 0_u32;
        let query = self.read.query(Reading::partition(site(PARTITION)));
        self.runtime.block_on(query.for_each(|reading| {
            black_box(reading);
            if seen.is_multiple_of(1_000) {
                work();
            }
            seen += 1;
        }))?;
        if seen == ENTITIES { Ok(start.elapsed()) } else { Err("the stream is short".into()) }
    }
}
