//! Azure Cosmos DB for NoSQL as a backend of [`table_core`], with hierarchical partition keys.
//!
//! A table is a container, and an entity is an item. The levels of a partition key are the paths `/l1`, `/l2` and `/l3` of the container
//! ([`table_core::schema`] describes how to declare them). A query such as `Event::within("contoso")` therefore uses only the physical partitions of contoso.
//!
//! Programs that take their store as a parameter run unchanged on Cosmos DB, apart from the differences below. Most of these differences are expressed as
//! [capabilities](table_core::store::Capabilities), which are checked before a request is sent.
//!
//! ```no_run
//! use table_core::{Entity, TableStoreExt};
//! use table_cosmos::{CosmosTables, Options};
//!
//! #[derive(Entity, Debug)]
//! #[entity(table = "Events")]
//! #[partition_key(tenant, user, session)]
//! #[row_key(number)]
//! struct Event { tenant: String, user: String, session: String, #[digits(8)] number: u32 }
//!
//! # async fn program() -> table_core::Result<()> {
//! let options = Options::new().levels_of::<Event>();
//! let store = CosmosTables::with_key("https://account.documents.azure.com/", "key", "East US", "database", options).await?;
//! let events = store.table::<Event>().create_if_missing().await?;
//! let of_ada = events.query(Event::within("contoso").user_is("ada")).collect().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Differences from the Table service
//!
//! | | Cosmos DB for NoSQL |
//! | --- | --- |
//! | order | within one partition key by RowKey; over several keys, only each page is in key order |
//! | Timestamp | whole seconds |
//! | `ETag` | a different format |
//! | writes | at most once: merges, unconditional changes and upserts read the entity first and are conditional on its `ETag` ([`Options::at_most_once_writes`]) |
//! | transactions | at most 2 MiB of JSON per request |
//! | items written by other programs | queries skip and report them ([`CosmosTables::skipped_items`]); a [`Mapping`] makes them entities |
//! | expiry | per container and per item ([`Options::time_to_live`], [`Mapping::time_to_live`]) |
//! | `RowKey` | not `.` or `..`, no trailing white space, at most 1,023 bytes |
//! | levels | at most 2,048 bytes each |
//! | scans | rejected above [`Options::fan_out`] physical partitions |
//! | `top` | a hint: a page may have fewer rows |
//! | tables | created, deleted and listed only with an account key; [`CosmosTables::with_credential`] needs existing containers |
//! | consistency | the account's level: with Session, a read may miss a completed write by another process, unless [`Options::latest_committed_reads`] is enabled, for twice the request units |
//!
//! # Merges of physical partitions
//!
//! Do not enable merges on the account (LIM-12). While merges are enabled, the service blocks the Rust client's requests.
//!
//! # Not tested on an account
//!
//! The tests run on the Azure SDK's in-memory emulator. If the service differs from the emulator, the tests inject the service's responses.
//!
//! A few things are known only from the service's documentation: the status of a point read with a prefix, the limit of 20 GB, splits that take hours, and
//! request charges. `tests/live.rs` runs the behaviour suite and a placement check on the account given by `TABLE_COSMOS_ENDPOINT` and `TABLE_COSMOS_KEY`.

/// The sample programs in `docs/cosmos.md`.
#[cfg(doctest)]
#[doc = include_str!("../../docs/cosmos.md")]
mod page {}

mod client;
mod container;
mod containers;
#[cfg(feature = "emulator")]
pub mod emulator;
mod exact;
mod expiry;
mod explain;
mod failure;
mod foreign;
mod item;
mod key;
mod mapping;
mod options;
mod read;
mod retry;
mod runtime;
mod scope;
mod sql;
mod store;
mod template;
mod throughput;
mod token;
mod unique;
mod usage;
mod write;

pub use client::CosmosTables;
pub use container::Difference;
pub use expiry::TimeToLive;
pub use explain::{Explain, Reads};
pub use foreign::SkippedItems;
pub use mapping::{Format, Mapping};
pub use options::Options;
pub use throughput::Throughput;
pub use usage::{Charges, Usage};
