//! The random program that each client in a history runs.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::etag::IfMatch;
use table_core::query::Select;
use table_core::row::{Row, RowView, RowWriter};
use table_core::{
    ETag, Entity, EntityKey, Error, Operation, OperationKind, PartitionKey, Result, RowKey, TableName,
    TableStore, TableStoreExt, Transaction, ValueRef,
};
use table_patterns::series::{Series, SeriesTable};

use crate::histories::check::{COUNTERS, ROWS};
use crate::histories::client::retry;
use crate::histories::history::{Call, Change, Content, History, Outcome, Record, Write};
use crate::histories::wire::LossyWire;

const PARTITION: &str = "p";
const NAMES: [&str; 2] = ["A", "B"];

/// A counter that is a series with one slot. The other counter is an entity that is updated with a closure.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Objects")]
#[partition_key(partition)]
#[row_key(name)]
struct Counter {
    partition: String,
    name: String,
}

impl Series for Counter {
    type Value = i64;
    const SLOTS: &'static [&'static str] = &["N"];
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Objects")]
#[partition_key(partition)]
#[row_key(name)]
struct Tally {
    partition: String,
    name: String,
    n: i64,
}

/// A recorder that collects the calls of all clients into a history.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<(usize, History)>>);

impl Recorder {
    fn event(&self) -> usize {
        let mut recorder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recorder.0 += 1;
        recorder.0
    }

    fn add(&self, record: Record) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.records.push(record);
    }

    /// Returns all recorded calls, in the order they began.
    #[must_use]
    pub fn history(&self) -> History {
        let mut history = self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        history.records.sort_by_key(|record| record.began);
        history
    }
}

/// The network of a client. It attributes each request to a step of the client's program.
pub trait Steps: Send + Sync + 'static {
    /// Attributes all later requests to the given step.
    fn begin(&self, step: usize);

    /// Returns the number of times that the write of a step has arrived at the account. A write without an `ETag` may take effect once per arrival.
    fn arrivals(&self, step: usize) -> usize;
}

impl Steps for LossyWire {
    fn begin(&self, step: usize) {
        self.begin(step);
    }

    fn arrivals(&self, step: usize) -> usize {
        self.arrivals(step)
    }
}

/// A client and its random program.
pub struct Actor<S, W> {
    number: usize,
    tables: S,
    wire: Arc<W>,
    recorder: Recorder,
    random: StdRng,
    seed: u64,
    /// For each row, the last version received by the client.
    known: [Option<String>; ROWS],
    /// `true` if the client may abandon a call before it returns.
    impatient: bool,
    /// The records of the client's calls, each with its step.
    steps: Vec<(usize, Record)>,
}

impl<S, W> fmt::Debug for Actor<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actor").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<S: TableStore + Clone + 'static, W: Steps> Actor<S, W> {
    /// Creates a client. `seed` determines its program.
    #[must_use]
    pub fn new(number: usize, tables: S, wire: Arc<W>, recorder: Recorder, seed: u64) -> Self {
        let random = StdRng::seed_from_u64(seed);
        Self {
            number,
            tables,
            wire,
            recorder,
            random,
            seed,
            known: [None, None],
            impatient: true,
            steps: Vec::new(),
        }
    }

    /// Makes the given number of calls, one after another.
    pub async fn work(mut self, calls: usize) -> Self {
        for _ in 0..calls {
            let pause = self.random.random_range(0..40_u64);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let call = self.choose();
            self.step(call).await;
        }
        self
    }

    /// Reads all rows and counters.
    pub async fn look(mut self) -> Self {
        self.impatient = false;
        for row in 0..ROWS {
            self.step(Call::Get(row)).await;
        }
        for counter in 0..COUNTERS {
            self.step(Call::Count(counter)).await;
        }
        self
    }

    /// Adds the calls of the client to the history. No requests may be pending in the network.
    pub fn tell(self) {
        for (step, record) in self.steps {
            self.recorder.add(Record { arrivals: self.wire.arrivals(step), ..record });
        }
    }

    async fn step(&mut self, call: Call) {
        let step = self.steps.len();
        self.wire.begin(step);
        let began = self.recorder.event();
        let limit = Duration::from_millis(self.random.random_range(1..200));
        let outcome = if self.impatient && self.random.random_range(0..16_u32) == 0 {
            // A call that takes too long is dropped, whatever point it has reached.
            tokio::time::timeout(limit, self.make(&call)).await.unwrap_or(Ok(Outcome::Ambiguous))
        } else {
            self.make(&call).await
        };
        let outcome = outcome.unwrap_or_else(|error| failed(&error));
        let ended = self.recorder.event();
        self.learn(&call, &outcome);
        self.steps.push((step, Record { client: self.number, call, began, ended, outcome, arrivals: 0 }));
    }

    fn choose(&mut self) -> Call {
        match self.random.random_range(0..10_u32) {
            0..2 => Call::Get(self.random.random_range(0..ROWS)),
            2..4 => Call::Add(self.random.random_range(0..COUNTERS), self.random.random_range(1..3)),
            4..6 => Call::Write((0..ROWS).map(|row| self.write(row)).collect()),
            _ => {
                let row = self.random.random_range(0..ROWS);
                Call::Write(vec![self.write(row)])
            }
        }
    }

    fn write(&mut self, row: usize) -> Write {
        // The range of values is small, so clients often write equal values.
        let value = self.random.random_range(0..2_i32);
        let content = match self.random.random_range(0..3_u32) {
            0 => [Some(value), None],
            1 => [None, Some(value)],
            _ => [Some(value), Some(1)],
        };
        let known = self.known[row].clone().filter(|_| self.random.random_range(0..5_u32) > 0);
        let change = match (self.random.random_range(0..8_u32), &known) {
            (0..2, None) | (0, _) => Change::Insert(content),
            (1, _) => Change::InsertOrReplace(content),
            (2, _) => Change::InsertOrMerge(content),
            (3..5, _) => Change::Replace(content, known),
            (5 | 6, _) => Change::Merge(content, known),
            _ => Change::Delete(known),
        };
        Write { row, change }
    }

    async fn make(&self, call: &Call) -> Result<Outcome> {
        let table = TableName::new("Objects")?;
        Ok(match call {
            Call::Get(row) => {
                let key = EntityKey::new(PARTITION, row_key(*row))?;
                let found = self.tables.get(&table, &key, &Select::All).await?;
                Outcome::Found(match found {
                    None => None,
                    Some(found) => Some((content(found.row.view())?, found.etag.to_string())),
                })
            }
            Call::Write(writes) => {
                let limits = self.tables.capabilities().limits;
                let mut transaction = Transaction::new(PartitionKey::new(PARTITION)?, limits)?;
                for write in writes {
                    let row_key = RowKey::new(row_key(write.row))?;
                    transaction.push(Operation { row_key, kind: kind(&write.change)? })?;
                }
                let etags = self.tables.submit(&table, transaction).await?;
                Outcome::Written(etags.into_iter().map(|etag| etag.map(|etag| etag.to_string())).collect())
            }
            Call::Add(0, by) => {
                let series = SeriesTable::new(self.tables.table::<Counter>()).with_retry(retry(self.seed));
                let counter = Counter { partition: PARTITION.to_owned(), name: counter_key(0) };
                Outcome::Counted(series.increment(&counter, 0, *by).await?)
            }
            Call::Add(counter, by) => {
                let table = self.tables.table::<Tally>().with_retry(retry(self.seed));
                let key = Tally::key(PARTITION, counter_key(*counter));
                Outcome::Counted(table.update(key, |tally| tally.n += by).await?.n)
            }
            Call::Count(counter) => {
                let key = EntityKey::new(PARTITION, counter_key(*counter))?;
                let found = self.tables.get(&table, &key, &Select::All).await?;
                let count = found.map(|found| found.row.view().find("N", &mut 0).map(number)).transpose()?;
                Outcome::Counted(count.unwrap_or_default())
            }
        })
    }

    fn learn(&mut self, call: &Call, outcome: &Outcome) {
        match (call, outcome) {
            (Call::Get(row), Outcome::Found(found)) => {
                self.known[*row] = found.as_ref().map(|(_, etag)| etag.clone());
            }
            (Call::Write(writes), Outcome::Written(etags)) => {
                for (write, etag) in writes.iter().zip(etags) {
                    self.known[write.row].clone_from(etag);
                }
            }
            _ => {}
        }
    }
}

/// Inserts the counter that is updated with a closure. Its initial value is 0.
///
/// # Errors
/// Any error from the store.
pub async fn prepare<S: TableStore + Clone>(tables: &S) -> Result<ETag> {
    tables
        .table::<Tally>()
        .insert(&Tally { partition: PARTITION.to_owned(), name: counter_key(1), n: 0 })
        .await
}

fn row_key(row: usize) -> String {
    format!("row{row}")
}

fn counter_key(counter: usize) -> String {
    format!("counter{counter}")
}

fn failed(error: &Error) -> Outcome {
    if error.is_ambiguous() { Outcome::Ambiguous } else { Outcome::Refused(error.code()) }
}

fn kind(change: &Change) -> Result<OperationKind> {
    let condition = |etag: &Option<String>| {
        Ok::<_, Error>(match etag {
            Some(etag) => IfMatch::ETag(ETag::parse(etag)?),
            None => IfMatch::Any,
        })
    };
    Ok(match change {
        Change::Insert(content) => OperationKind::Insert(row(content)),
        Change::Replace(content, etag) => OperationKind::Replace(row(content), condition(etag)?),
        Change::Merge(content, etag) => OperationKind::Merge(row(content), condition(etag)?),
        Change::InsertOrReplace(content) => OperationKind::InsertOrReplace(row(content)),
        Change::InsertOrMerge(content) => OperationKind::InsertOrMerge(row(content)),
        Change::Delete(etag) => OperationKind::Delete(condition(etag)?),
    })
}

fn row(content: &Content) -> Row {
    let mut row = RowWriter::new();
    for (name, value) in NAMES.iter().zip(content) {
        if let Some(value) = value {
            row.property(name, ValueRef::Int32(*value));
        }
    }
    row.finish()
}

fn content(row: RowView<'_>) -> Result<Content> {
    let mut content = [None; 2];
    for (name, place) in NAMES.iter().zip(&mut content) {
        *place = match row.find(name, &mut 0)? {
            Some(ValueRef::Int32(value)) => Some(value),
            _ => None,
        };
    }
    Ok(content)
}

fn number(value: Option<ValueRef<'_>>) -> i64 {
    match value {
        Some(ValueRef::Int64(number)) => number,
        _ => 0,
    }
}
