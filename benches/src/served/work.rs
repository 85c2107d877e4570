//! What servers are asked to do, and one worker that asks.

use std::sync::atomic::{AtomicU32, Ordering};

use table_wire::auth::{AccountKey, Scheme};
use table_wire::percent;

use crate::Outcome;
use crate::data::Random;
use crate::served::connection::{Connection, Sent};
use crate::served::data::{self, Shape};

/// Where a server is, and its account.
#[derive(Debug)]
pub struct Place {
    /// Host and port of its tables.
    pub tables: String,
    /// Host and port of its queues.
    pub queues: String,
    /// The account in a path, with the slash before it.
    pub account_path: String,
    /// The account's key.
    pub key: AccountKey,
    /// Keys that no worker has used yet.
    fresh: AtomicU32,
}

impl Place {
    /// Reads a connection string.
    pub fn new(connection_string: &str) -> Outcome<Self> {
        let part = |name: &str| {
            let found = connection_string.split(';').find_map(|part| part.strip_prefix(name));
            found.ok_or_else(|| format!("the connection string has no {name}"))
        };
        let address = |name: &str| -> Outcome<String> {
            let endpoint = part(name)?.strip_prefix("http://").ok_or("not plain HTTP")?;
            Ok(endpoint.split('/').next().unwrap_or_default().to_owned())
        };
        let account = part("AccountName=")?;
        Ok(Self {
            tables: address("TableEndpoint=")?,
            queues: address("QueueEndpoint=")?,
            account_path: format!("/{account}"),
            key: AccountKey::new(account, part("AccountKey=")?)?,
            fresh: AtomicU32::new(0),
        })
    }
}

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A point get.
    Get,
    /// An insert that is answered without a body.
    Insert,
    /// A merge of one property.
    Merge,
    /// A transaction of 100 inserts.
    Batch,
    /// A page of 1,000, of one partition or of the table.
    Page,
    /// The entities of a partition that have a property's value, one in a hundred.
    Filter,
    /// A message: put, received, deleted.
    Queue,
}

impl Work {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Get, Self::Insert, Self::Merge, Self::Batch, Self::Page, Self::Filter, Self::Queue];

    /// Its name for `--only`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Insert => "insert",
            Self::Merge => "merge",
            Self::Batch => "batch",
            Self::Page => "page",
            Self::Filter => "filter",
            Self::Queue => "queue",
        }
    }

    /// Its name in the report.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Get => "point get",
            Self::Insert => "insert",
            Self::Merge => "merge",
            Self::Batch => "transaction of 100",
            Self::Page => "page of 1,000",
            Self::Filter => "filter on a property",
            Self::Queue => "a message put, received, deleted",
        }
    }

    /// Whether the entities that are there matter.
    #[must_use]
    pub const fn is_sized(self) -> bool {
        !matches!(self, Self::Queue)
    }

    /// How the service of it signs.
    const fn scheme(self) -> Scheme {
        if matches!(self, Self::Queue) { Scheme::Storage } else { Scheme::Table }
    }
}

/// An answer that is not as expected ends the run.
pub fn check((status, body): (u16, &[u8]), expected: u16) -> Outcome<()> {
    if status == expected {
        return Ok(());
    }
    Err(format!("{status} instead of {expected}: {}", String::from_utf8_lossy(body)).into())
}

/// Who does one kind of work at one place over one connection.
#[derive(Debug)]
pub struct Worker<'a> {
    work: Work,
    place: &'a Place,
    shape: &'a Shape,
    connection: Connection,
    random: Random,
    any: bool,
}

impl<'a> Worker<'a> {
    /// Connects.
    pub fn open(work: Work, place: &'a Place, shape: &'a Shape, number: usize) -> Outcome<Self> {
        let address = if work == Work::Queue { &place.queues } else { &place.tables };
        let connection = Connection::open(address, &place.key, work.scheme())?;
        Ok(Self { work, place, shape, connection, random: Random::new(number as u64 + 1), any: false })
    }

    /// The same, for a server that answers everything alike.
    #[must_use]
    pub fn accepting_any(self, any: bool) -> Self {
        Self { any, ..self }
    }

    /// Does it once.
    pub fn operate(&mut self) -> Outcome<()> {
        match self.work {
            Work::Get => {
                let path = self.some_entity();
                self.ask("GET", &path, "", "", 200)
            }
            Work::Insert => {
                let (partition, number) = self.fresh(1);
                let body = data::entity(&partition, &data::row(number), number);
                let path = format!("{}/{}", self.place.account_path, self.shape.table);
                self.ask("POST", &path, "", &body, 204)
            }
            Work::Merge => {
                let path = self.some_entity();
                let body = format!("{{\"Celsius\":{}.5}}", self.random.below(40));
                self.ask("MERGE", &path, "", &body, 204)
            }
            Work::Batch => {
                let (partition, first) = self.fresh(100);
                let rows = (first..first + 100).map(|number| (data::row(number), number));
                let body = data::transaction(self.place, self.shape.table, &partition, rows);
                data::post(self.place, &mut self.connection, &body)
            }
            Work::Page => {
                // A partition that has a page is read by itself.
                let query = if self.shape.entities / self.shape.partitions >= 1_000 {
                    let partition = data::partition(self.random.below(self.shape.partitions));
                    format!("$filter=PartitionKey%20eq%20'{partition}'&$top=1000")
                } else {
                    "$top=1000".to_owned()
                };
                let path = format!("{}/{}()", self.place.account_path, self.shape.table);
                self.ask("GET", &path, &query, "", 200)
            }
            Work::Filter => {
                let partition = data::partition(self.random.below(self.shape.partitions));
                let count = self.random.below(100);
                let query = format!("$filter=PartitionKey%20eq%20'{partition}'%20and%20Count%20eq%20{count}");
                let path = format!("{}/{}()", self.place.account_path, self.shape.table);
                self.ask("GET", &path, &query, "", 200)
            }
            Work::Queue => self.message(),
        }
    }

    fn ask(&mut self, method: &'static str, path: &str, query: &str, body: &str, status: u16) -> Outcome<()> {
        let media_type = if self.work == Work::Queue { "application/xml" } else { "application/json" };
        let answer = self.connection.exchange(&Sent { method, path, query, media_type, body })?;
        if self.any { Ok(()) } else { check(answer, status) }
    }

    fn some_entity(&mut self) -> String {
        let (partition, row) = self.shape.key(self.random.below(self.shape.entities));
        let Self { place, shape, .. } = self;
        format!("{}/{}(PartitionKey='{partition}',RowKey='{row}')", place.account_path, shape.table)
    }

    /// A partition beside those that are read, and the first of so many fresh rows.
    fn fresh(&self, rows: u32) -> (String, u32) {
        let first = self.place.fresh.fetch_add(rows, Ordering::Relaxed);
        (format!("q{:05}", first / rows % self.shape.partitions), first)
    }

    fn message(&mut self) -> Outcome<()> {
        let path = format!("{}/{QUEUE}/messages", self.place.account_path);
        let body = "<QueueMessage><MessageText>archive employee 223</MessageText></QueueMessage>";
        self.ask("POST", &path, "", body, 201)?;
        let get =
            Sent { method: "GET", path: &path, query: "visibilitytimeout=60", media_type: "", body: "" };
        let answer = self.connection.exchange(&get)?;
        check(answer, 200)?;
        let text = std::str::from_utf8(answer.1)?;
        let inside = |name: &str| text.split(name).nth(1).and_then(|rest| rest.split('<').next());
        // At Azurite two receives at once may miss a message that is there.
        let (Some(id), Some(receipt)) = (inside("<MessageId>"), inside("<PopReceipt>")) else {
            return Ok(());
        };
        let (path, query) = (format!("{path}/{id}"), format!("popreceipt={}", percent::encode(receipt)));
        self.ask("DELETE", &path, &query, "", 204)
    }
}

/// The queue that is worked on.
pub const QUEUE: &str = "ratios";

/// Creates the queue.
pub fn create_queue(place: &Place) -> Outcome<()> {
    let mut connection = Connection::open(&place.queues, &place.key, Scheme::Storage)?;
    let path = format!("{}/{QUEUE}", place.account_path);
    let (status, body) =
        connection.exchange(&Sent { method: "PUT", path: &path, query: "", media_type: "", body: "" })?;
    if status == 204 { Ok(()) } else { check((status, body), 201) }
}
