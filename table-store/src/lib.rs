//! The contract between table stores and the programs that use them: shared data types and the backend traits.
//!
//! A backend implements [`TableStore`], and [`QueueStore`] if it has queues. `table-core` builds its typed tables on these traits and
//! re-exports every module of this package. To use a store, depend on `table-core`. To implement a store without compiling the typed layer,
//! depend on this package.
//!
//! ```
//! use table_store::row::RowWriter;
//! use table_store::{Operation, OperationKind, RowKey, ValueRef};
//!
//! let mut writer = RowWriter::new();
//! writer.property("Age", ValueRef::Int32(34));
//! let insert = Operation { row_key: RowKey::new("000223")?, kind: OperationKind::Insert(writer.finish()) };
//! assert_eq!(insert.kind.name(), "insert");
//! # Ok::<(), table_store::Error>(())
//! ```
//!
//! # Modules
//!
//! | for | modules |
//! | --- | --- |
//! | backends | [`store`] and [`queue`] (the traits) |
//! | names, keys and versions | [`name`], [`key`], [`etag`] |
//! | entities | [`Value`], [`row`] (the encoded properties), [`odata`] (the JSON of the protocol) |
//! | reading | [`query`] (key ranges, class, plan, pages, continuation), [`filter`] |
//! | writing | [`operation`], [`transaction`] |
//! | time | [`ticks`], [`clock`] |
//! | errors and limits | [`Error`], [`limits`] |
//!
//! Items hidden from this documentation are internal to `table-core` and `table-engine`. They are not part of the API and may change in any release.

// `#[derive(Fault)]` generates paths that start with this name, and this crate uses the derive itself.
extern crate self as table_store;

pub mod clock;
mod error;
pub mod etag;
pub mod filter;
#[doc(hidden)]
pub mod fnv;
pub mod key;
mod lease;
pub mod limits;
pub mod name;
pub mod odata;
pub mod operation;
pub mod query;
pub mod queue;
pub mod row;
pub mod store;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
pub mod ticks;
pub mod transaction;
mod value;

pub use clock::Clock;
#[doc(hidden)]
pub use error::quoted;
pub use error::{Error, ErrorCode, Fault, Result};
pub use etag::{ETag, IfMatch};
pub use filter::Filter;
pub use key::{EntityKey, PartitionKey, RowKey};
pub use name::TableName;
pub use operation::{Operation, OperationKind};
pub use query::{Continuation, Page, Query};
pub use queue::{DynQueueStore, QueueName, QueueStore};
pub use row::Row;
pub use store::{DynTableStore, TableStore};
pub use transaction::Transaction;
#[doc(hidden)]
pub use value::edm_ticks;
pub use value::{EdmType, Value, ValueRef};
