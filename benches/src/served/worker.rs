//! A worker that runs one workload on one server over one connection.

use std::sync::atomic::Ordering;
use std::time::Duration;

use table_wire::percent;

use crate::Outcome;
use crate::data::Random;
use crate::served::connection::{Connection, Wait};
use crate::served::data::{self, Shape};
use crate::served::load::{self, Done};
use crate::served::request::Sent;
use crate::served::work::{Place, QUEUE, Work, check};

/// Measures the rate over the given number of connections for about the given time. If `any` is `true`, every response is accepted.
///
/// A single connection is measured twice: with a client that busy-waits, and with a client that sleeps. The better result counts. A sleeping client leaves both
/// cores to a server that needs them. A busy-waiting client wakes a single-threaded server sooner.
pub fn ask(
    work: Work,
    (place, any): (&Place, bool),
    shape: &Shape,
    connections: usize,
    time: Duration,
) -> Outcome<Done> {
    let run = |wait| {
        let open = |number| Ok(Worker::open(work, place, shape, (number, wait))?.accepting_any(any));
        load::run(connections, time, open, Worker::operate)
    };
    let asleep = run(Wait::Asleep)?;
    if connections > 1 {
        return Ok(asleep);
    }
    let awake = run(Wait::Awake)?;
    Ok(if awake.rate.per_second() > asleep.rate.per_second() { awake } else { asleep })
}

/// A worker for one connection. It encodes and signs its next request while the server processes the previous one. The measurement therefore does not include
/// the client's work.
#[derive(Debug)]
pub struct Worker<'a> {
    work: Work,
    place: &'a Place,
    shape: &'a Shape,
    connection: Connection,
    random: Random,
    any: bool,
    is_prepared: bool,
}

impl<'a> Worker<'a> {
    /// Opens the connection of the worker with the given number.
    pub fn open(
        work: Work,
        place: &'a Place,
        shape: &'a Shape,
        (number, wait): (usize, Wait),
    ) -> Outcome<Self> {
        let address = if work == Work::Queue { &place.queues } else { &place.tables };
        let connection = Connection::open(address, &place.key, work.scheme(), wait)?;
        let random = Random::new(number as u64 + 1);
        Ok(Self { work, place, shape, connection, random, any: false, is_prepared: false })
    }

    /// Makes the worker accept every response if `any` is `true`. This is needed for a server that sends a constant response.
    #[must_use]
    pub fn accepting_any(self, any: bool) -> Self {
        Self { any, ..self }
    }

    /// Performs one operation of the worker's workload.
    pub fn operate(&mut self) -> Outcome<()> {
        if !self.is_prepared {
            self.prepare()?;
        }
        self.connection.send()?;
        if self.work == Work::Queue {
            return self.message();
        }
        self.prepare()?;
        let answer = self.connection.answer()?;
        match self.work {
            _ if self.any => Ok(()),
            Work::Batch => data::done(answer),
            Work::Get | Work::Page | Work::Filter | Work::Queue => check(answer, 200),
            Work::Insert | Work::Merge => check(answer, 204),
        }
    }

    /// Encodes the next request.
    fn prepare(&mut self) -> Outcome<()> {
        self.is_prepared = true;
        let table = || format!("{}/{}", self.place.account_path, self.shape.table);
        match self.work {
            Work::Get => {
                let path = self.some_entity();
                self.write("GET", &path, "", "")
            }
            Work::Insert => {
                let (partition, number) = self.fresh(1);
                self.write("POST", &table(), "", &data::entity(&partition, &data::row(number), number))
            }
            Work::Merge => {
                let path = self.some_entity();
                let body = format!("{{\"Celsius\":{}.5}}", self.random.below(40));
                self.write("MERGE", &path, "", &body)
            }
            Work::Batch => {
                let (partition, first) = self.fresh(100);
                let rows = (first..first + 100).map(|number| (data::row(number), number));
                let body = data::transaction(self.place, self.shape.table, &partition, rows);
                self.connection.prepare(&data::batch(&format!("{}/$batch", self.place.account_path), &body))
            }
            Work::Page => {
                let path = format!("{}()", table());
                // If a partition fills an entire page, a filter on the key selects a random partition.
                let query = if self.shape.entities / self.shape.partitions >= 1_000 {
                    let partition = data::partition(self.random.below(self.shape.partitions));
                    format!("$filter=PartitionKey%20eq%20'{partition}'&$top=1000")
                } else {
                    "$top=1000".to_owned()
                };
                self.write("GET", &path, &query, "")
            }
            Work::Filter => {
                let path = format!("{}()", table());
                let partition = data::partition(self.random.below(self.shape.partitions));
                let count = self.random.below(100);
                let query = format!("$filter=PartitionKey%20eq%20'{partition}'%20and%20Count%20eq%20{count}");
                self.write("GET", &path, &query, "")
            }
            Work::Queue => {
                let path = format!("{}/{QUEUE}/messages", self.place.account_path);
                let body = "<QueueMessage><MessageText>archive employee 223</MessageText></QueueMessage>";
                self.write("POST", &path, "", body)
            }
        }
    }

    fn write(&mut self, method: &'static str, path: &str, query: &str, body: &str) -> Outcome<()> {
        let media_type = if self.work == Work::Queue { "application/xml" } else { "application/json" };
        self.connection.prepare(&Sent { method, path, query, media_type, body })
    }

    fn some_entity(&mut self) -> String {
        let (partition, row) = self.shape.key(self.random.below(self.shape.entities));
        let Self { place, shape, .. } = self;
        format!("{}/{}(PartitionKey='{partition}',RowKey='{row}')", place.account_path, shape.table)
    }

    /// Returns a partition that no other workload reads, and the first of `rows` consecutive unused row numbers in it.
    fn fresh(&self, rows: u32) -> (String, u32) {
        let first = self.place.fresh.fetch_add(rows, Ordering::Relaxed);
        (format!("q{:05}", first / rows % self.shape.partitions), first)
    }

    /// Sends the requests that follow a put: a receive, and a delete with the pop receipt from the response.
    fn message(&mut self) -> Outcome<()> {
        let path = format!("{}/{QUEUE}/messages", self.place.account_path);
        self.write("GET", &path, "visibilitytimeout=60", "")?;
        let put = self.connection.answer()?;
        check(put, 201)?;
        self.connection.send()?;
        let answer = self.connection.answer()?;
        check(answer, 200)?;
        let text = std::str::from_utf8(answer.1)?;
        let inside = |name: &str| text.split(name).nth(1).and_then(|rest| rest.split('<').next());
        // On Azurite, two concurrent receives may both miss an existing message.
        if let (Some(id), Some(receipt)) = (inside("<MessageId>"), inside("<PopReceipt>")) {
            let (path, query) = (format!("{path}/{id}"), format!("popreceipt={}", percent::encode(receipt)));
            self.write("DELETE", &path, &query, "")?;
            self.connection.send()?;
            self.prepare()?;
            return check(self.connection.answer()?, 204);
        }
        self.prepare()
    }
}
