//! Azure Cosmos DB for NoSQL as a backend of [`table_core`]: hierarchical partition keys on the service they were made for.
//!
//! A table is a container, an entity an item. The levels of a partition key ([`table_core::schema`] says how they are declared) are the
//! paths `/l1`, `/l2` and `/l3` of the container, so that `Event::within("contoso")` is asked of the physical partitions that hold
//! contoso and of no other. Programs run unchanged; what differs is a [capability](table_core::store::Capabilities), checked before a
//! request is sent.
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
//! # What differs
//!
//! | | here |
//! | --- | --- |
//! | order | within one whole key by RowKey; answers over several keys come partition by partition, each page in key order |
//! | Timestamp | whole seconds |
//! | `ETag` | of another form, opaque as ever |
//! | merges | read, merged and replaced under the `ETag`, repeated if another writer was faster |
//! | transactions | 2 MB of JSON together |
//! | `RowKey` | not `.` or `..`, no blank at its end, 1,023 bytes: the client or the gateway would take it for another |
//! | levels | 2,048 bytes each |
//! | scans | of more than [`Options::fan_out`] physical partitions are refused |
//! | `top` | a hint: a page may hold fewer |
//! | tables | created, deleted and listed with an account key alone |
//! | consistency | the account's |
//!
//! # What was never seen on an account
//!
//! The tests run on the vendor's in-memory emulator, and on recorded answers where that is not the service. The status of a prefix in a
//! point read, the bound of 20 GB, real splits of hours and the price of a request are known from documents only. `tests/live.rs` runs the
//! behaviour suite and a check of placement on an account that is given by `TABLE_COSMOS_ENDPOINT` and `TABLE_COSMOS_KEY`.

mod client;
mod container;
mod containers;
#[cfg(feature = "emulator")]
pub mod emulator;
mod explain;
mod failure;
mod item;
mod key;
mod options;
mod patience;
mod read;
mod runtime;
mod scope;
mod sql;
mod store;
mod write;

pub use client::CosmosTables;
pub use container::{Difference, Throughput};
pub use explain::{Explain, Reads};
pub use options::Options;
