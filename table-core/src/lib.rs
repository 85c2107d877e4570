//! Typed table storage with key encodings, typed queries, transactions and queues, on an embedded engine or on a service.
//!
//! A table store orders entities by two strings, PartitionKey and RowKey. A derive macro maps a struct to these keys. Its attributes specify the fields of each
//! key and how they are encoded, so numbers and dates sort correctly as strings. The type of a query shows which key parts are given, and therefore how much
//! the query costs.
//!
//! ```
//! use table_core::{BlockOn, Engine, Entity, TableStoreExt};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Orders")]
//! #[partition_key(customer)]
//! #[row_key(number)] // 00000042
//! struct Order {
//!     customer: String,
//!     #[digits(8)]
//!     number: u32,
//!     total: f64,
//! }
//!
//! async fn program() -> table_core::Result<()> {
//!     let store = Engine::in_memory(); // or `Engine::open("folder")`
//!     let orders = store.table::<Order>().create_if_missing().await?;
//!     orders.insert(&Order { customer: "ada".into(), number: 42, total: 9.5 }).await?;
//!
//!     let order = orders.get(Order::key("ada", 42)).await?.expect("the order inserted above");
//!     let changed = Order { total: 12.0, ..Order::clone(&order) };
//!     orders.replace(&changed, order.etag().clone()).await?; // fails if another writer changed it
//!
//!     let recent = orders.query(Order::rows("ada").number(40..)).collect().await?;
//!     assert_eq!(recent[0].total, 12.0);
//!     Ok(())
//! }
//!
//! program().block_on().unwrap(); // or any async runtime
//! ```
//!
//! # Modules
//!
//! | for | modules |
//! | --- | --- |
//! | entities and keys | [`entity`], [`key`], [`property`], [`Value`], [`ticks`], [`schema`] |
//! | reading | [`selection`] (which keys), [`filter`] and [`column`](mod@column) (which conditions), [`query`] (class, plan, pages, continuation) |
//! | writing | [`table`] (one entity), [`transaction`] and [`operation`] (entity group transactions), [`etag`] |
//! | several types in a table | [`set`] and [`group`] (declared types), [`untyped`] and [`bag`] (rows without a type) |
//! | schema changes | [`layout_file`] (the committed layout file), [`access`] (access patterns with their maximum cost) |
//! | backends | [`store`] and [`queue`] (the traits), [`embedded`] (the engine) |
//! | time and conflicts | [`clock`], [`runtime`], [`retry`] |
//! | errors and limits | [`Error`], [`limits`] |
//!
//! # Features
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `embedded` | yes | [`Engine`]: tables and queues in a folder or in memory |
//! | `derive` | yes | `#[derive(Entity)]`, `EntitySet`, `EntityGroup`, `KeyPart`, `Projection`, and `access_patterns!` |
//! | `hashes` | no | `hash(sha256, …)` and `hash(md5, …)` as key parts |
//! | `rust_decimal` | no | `rust_decimal::Decimal` as a property |
//!
//! Indexes, copies, feeds and other patterns are in the `table-patterns` package. The client for Azure Table Storage and compatible services is
//! in `table-azure`.

// The derive macros refer to the crate by this name, and the crate's own tests use the macros.
extern crate self as table_core;

#[doc(hidden)]
pub mod __private;

pub mod access;
pub mod bag;
mod chunk_name;
pub mod column;
#[cfg(feature = "derive")]
mod derive;
#[cfg(feature = "embedded")]
pub mod embedded {
    //! The embedded engine, which stores tables and queues in a folder or in memory, with the service's semantics.

    #[doc(inline)]
    pub use table_engine::*;
}
pub mod entity;
pub mod group;
pub mod index;
pub mod key;
pub mod layout_file;
pub mod mixed;
pub mod property;
mod refused;
#[doc(hidden)]
pub mod reported;
pub mod retry;
pub mod runtime;
pub mod schema;
pub mod selection;
pub mod set;
pub mod table;
pub mod untyped;

#[cfg(feature = "testing")]
#[doc(hidden)]
pub use table_store::testing;
#[doc(inline)]
pub use table_store::{
    clock, etag, filter, limits, name, odata, operation, query, queue, row, store, ticks, transaction,
};

pub use bag::TableEntity;
pub use clock::Clock;
pub use column::{Column, Condition, KeyColumn};
#[cfg(feature = "embedded")]
pub use embedded::Engine;
pub use entity::{Entity, FromEntity, PlainEntity, ToEntity, Versioned};
pub use etag::{ETag, IfMatch};
pub use filter::Filter;
pub use group::{EntityGroup, GroupOf};
pub use index::{IndexEntry, IndexOf};
pub use key::codec::KeyPart;
pub use key::{EntityKey, PartitionKey, RowKey};
pub use name::TableName;
pub use operation::{Operation, OperationKind};
/// Adds `.block_on()` to every future, for programs without an async runtime. Do not call it in async code, because it blocks the thread.
pub use pollster::FutureExt as BlockOn;
pub use property::{Json, Property};
pub use query::{Continuation, Page, Query};
pub use queue::{DynQueueStore, QueueName, QueueStore};
pub use row::Row;
pub use selection::Selection;
pub use set::{EntitySet, SetOf};
pub use store::{DynTableStore, TableStore};
pub use table::{Table, TableStoreExt};
pub use table_store::{EdmType, Error, ErrorCode, Fault, Result, Value, ValueRef};
pub use transaction::Transaction;
pub use untyped::UntypedTable;

#[cfg(feature = "derive")]
pub use derive::{Entity, EntityGroup, EntitySet, KeyPart, Projection};
