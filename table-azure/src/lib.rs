//! Azure Table Storage, Cosmos DB for Table and Azurite as backends of `table-core`.
//!
//! [`AzureTables`] implements [`TableStore`](table_core::TableStore), and [`AzureQueues`] implements [`QueueStore`](table_core::QueueStore). Both use the REST
//! protocol of the services. A program that takes its store as a parameter runs unchanged on the embedded engine and on an account. `docs/book/azure.md` lists
//! the differences.
//!
//! | purpose | items |
//! | --- | --- |
//! | clients | [`AzureTables`], [`AzureQueues`], `AzureBlobs` with the `blobs` feature |
//! | endpoint and credential | [`ConnectionString`], [`Target`], [`Credential`] |
//! | time, retries, secondary endpoint | [`Options`], [`RetryPolicy`] |
//! | shared access signatures that grant access to part of a table | [`sas`] |
//! | details of a service error | [`ServiceError`], returned by `Error::source` |
//!
//! | feature | adds |
//! | --- | --- |
//! | `blobs` | the blob service, through the `object_store` crate |
//! | `identity` | bearer tokens from Azure SDK credentials, such as those in the `azure_identity` crate |
//!
//! The client works on any executor, because a separate thread drives its connections. `docs/azure.md` describes endpoints and credentials, and
//! `docs/parity.md` compares the package with the Azure SDK.
//!
//! ```no_run
//! use table_azure::AzureTables;
//! use table_core::query::Select;
//! use table_core::row::RowWriter;
//! use table_core::{
//!     EntityKey, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, Transaction, ValueRef,
//! };
//!
//! # async fn run() -> table_core::Result<()> {
//! let store = AzureTables::from_connection_string("UseDevelopmentStorage=true")?;
//! let table = TableName::new("Employee")?;
//! store.create_table(&table).await?;
//!
//! let mut row = RowWriter::new();
//! row.property("FirstName", ValueRef::String("Ada"));
//! let mut transaction = Transaction::new(PartitionKey::new("Sales")?, store.capabilities().limits)?;
//! transaction.push(Operation { row_key: RowKey::new("00001")?, kind: OperationKind::Insert(row.finish()) })?;
//! store.submit(&table, transaction).await?;
//!
//! let found = store.get(&table, &EntityKey::new("Sales", "00001")?, &Select::All).await?;
//! assert!(found.is_some());
//! # Ok(())
//! # }
//! ```

mod acl;
mod ascii;
mod batch;
#[cfg(feature = "blobs")]
mod blob;
mod client;
mod connection_string;
mod credential;
mod endpoint;
mod failure;
mod http;
#[cfg(feature = "identity")]
mod identity;
mod json;
mod operation_id;
mod options;
mod queue;
mod read;
mod resolve;
mod retry;
mod secondary;
mod service;
mod store;
mod tables;
mod target;
#[cfg(not(feature = "testing"))]
mod testing;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;
mod write;

#[cfg(feature = "blobs")]
pub use blob::AzureBlobs;
pub use client::AzureTables;
pub use connection_string::ConnectionString;
pub use credential::{AccessToken, Credential, TokenFuture, TokenProvider};
pub use failure::ServiceError;
pub use options::Options;
pub use queue::AzureQueues;
pub use retry::RetryPolicy;
pub use secondary::SecondaryReads;
pub use service::ServiceStats;
pub use table_core::Clock;
pub use table_wire::auth::AccountKey;
pub use table_wire::{CorsRule, Logging, Metrics, ServiceProperties, sas};
use table_wire::{auth, xml};
pub use target::Target;
