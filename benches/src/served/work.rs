//! The workloads for servers, and the address of a server.

use std::sync::atomic::AtomicU32;

use table_wire::auth::{AccountKey, Scheme};

use crate::Outcome;
use crate::served::connection::{Connection, Wait};
use crate::served::request::Sent;

/// The address and the account of a server.
#[derive(Debug)]
pub struct Place {
    /// The host and port of the table service.
    pub tables: String,
    /// The host and port of the queue service.
    pub queues: String,
    /// The account as a path segment with a leading slash.
    pub account_path: String,
    /// The key of the account.
    pub key: AccountKey,
    /// A counter from which keys for new entities are derived.
    pub(super) fresh: AtomicU32,
}

impl Place {
    /// Parses a connection string.
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

/// A workload whose rate is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A point get.
    Get,
    /// An insert that requests no response body.
    Insert,
    /// A merge of one property.
    Merge,
    /// A transaction of 100 inserts.
    Batch,
    /// A page of 1,000 entities, from one partition or from the entire table.
    Page,
    /// A query for a partition's entities with a given property value. One in a hundred entities has this value.
    Filter,
    /// Putting, receiving and deleting a message.
    Queue,
}

impl Work {
    /// All workloads.
    pub const ALL: [Self; 7] =
        [Self::Get, Self::Insert, Self::Merge, Self::Batch, Self::Page, Self::Filter, Self::Queue];

    /// Returns the name of the workload on the command line (`--only`).
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

    /// Returns the name of the workload as shown in the report.
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

    /// Returns `true` if the rate may depend on the number of existing entities.
    #[must_use]
    pub const fn is_sized(self) -> bool {
        !matches!(self, Self::Queue)
    }

    /// Returns the signature scheme of the service used by the workload.
    pub(super) const fn scheme(self) -> Scheme {
        if matches!(self, Self::Queue) { Scheme::Storage } else { Scheme::Table }
    }
}

/// Checks the status of a response. Any status other than `expected` is an error, which ends the run.
pub fn check((status, body): (u16, &[u8]), expected: u16) -> Outcome<()> {
    if status == expected {
        return Ok(());
    }
    Err(format!("{status} instead of {expected}: {}", String::from_utf8_lossy(body)).into())
}

/// The name of the queue used by [`Work::Queue`].
pub const QUEUE: &str = "ratios";

/// Creates the queue used by [`Work::Queue`].
pub fn create_queue(place: &Place) -> Outcome<()> {
    let mut connection = Connection::open(&place.queues, &place.key, Scheme::Storage, Wait::Asleep)?;
    let path = format!("{}/{QUEUE}", place.account_path);
    let (status, body) =
        connection.exchange(&Sent { method: "PUT", path: &path, query: "", media_type: "", body: "" })?;
    if status == 204 { Ok(()) } else { check((status, body), 201) }
}
