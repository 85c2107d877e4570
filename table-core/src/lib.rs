//! Typed table storage.

// The derives name the crate, also in its own tests.
extern crate self as table_core;

#[doc(hidden)]
pub mod __private;

pub mod access;
pub mod bag;
pub mod blocking;
pub mod clock;
pub mod column;
#[cfg(feature = "derive")]
mod derive;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod entity;
pub mod error;
pub mod etag;
pub mod filter;
mod fnv;
pub mod group;
pub mod index;
pub mod key;
pub mod limits;
pub mod lock;
pub mod name;
pub mod odata;
pub mod operation;
pub mod pace;
pub mod property;
pub mod query;
pub mod queue;
pub mod retry;
pub mod row;
pub mod schema;
pub mod selection;
pub mod set;
pub mod store;
pub mod table;
pub mod ticks;
pub mod transaction;
pub mod untyped;
pub mod value;

pub use bag::TableEntity;
pub use clock::Clock;
pub use column::{Column, Condition, KeyColumn};
#[cfg(feature = "embedded")]
pub use embedded::Engine;
pub use entity::{Entity, FromEntity, PlainEntity, ToEntity, Versioned};
pub use error::{Error, ErrorCode, Result};
pub use etag::{ETag, IfMatch};
pub use filter::Filter;
pub use group::{EntityGroup, GroupOf};
pub use index::{IndexEntry, IndexOf};
pub use key::{EntityKey, KeyPart, PartitionKey, RowKey};
pub use name::TableName;
pub use operation::{Operation, OperationKind};
pub use property::{Json, Property};
pub use query::{Continuation, Page, Query};
pub use queue::{DynQueueStore, QueueName, QueueStore};
pub use row::Row;
pub use selection::Selection;
pub use set::{EntitySet, SetOf};
pub use store::{DynTableStore, TableStore};
pub use table::{Table, TableStoreExt};
pub use transaction::Transaction;
pub use untyped::UntypedTable;
pub use value::{EdmType, Value, ValueRef};

#[cfg(feature = "derive")]
pub use derive::{Entity, EntityGroup, EntitySet, KeyPart, Projection};
