//! SQL over the tables of any store: a [DataFusion](datafusion) table provider over [`DynTableStore`](table_core::DynTableStore).
//!
//! Each table has these columns:
//!
//! | column | type |
//! |---|---|
//! | `PartitionKey`, `RowKey` | string |
//! | `Timestamp` | timestamp in nanoseconds |
//! | a key part, named as in the stored schema | `bigint` for padded digits, a timestamp for ticks, and a string for all other parts |
//! | a property | its type; GUIDs are strings; times are in microseconds if some are outside the years 1678 to 2261 |
//!
//! A property with values of several types has one column for each type. The column of the most frequent type is named after the property, and the others have
//! a suffix, such as `Age@String`. A key part with the same name as another column has the suffix `@key`. If several key parts encode the same field
//! differently, the part from which the field can be decoded is named after the field. The other parts have the codec's name as a suffix, such as `id@bucket`.
//! Names are case-sensitive even without quotes.
//!
//! The columns are determined by the stored schemas and by a [sample](SqlOptions::sample) of the rows. A statement that reads a property fails at the first row
//! whose value has a type not found in the schemas or the sample. A condition on the property may exclude such a row before it is read.
//!
//! A row has key parts if its keys match a stored schema. If they match several schemas, the row has the parts of the schema with the most literal characters.
//! All `NaN`s are treated as one value, which is greater than every number.
//!
//! # Requests
//! - Equality comparisons, ranges and prefixes (`LIKE 'ada%'`) of keys and key parts become a key range.
//! - Comparisons of properties become a filter evaluated by the store. DataFusion evaluates every condition again, because SQL and the service differ in
//!   details, such as `NaN`. A comparison is not sent if the service could omit rows that SQL includes.
//! - Only the properties used by the statement are requested. Each page is read when the statement needs it.
//! - If the store returns rows in key order, DataFusion uses this order, so `ORDER BY PartitionKey, RowKey` requires no sorting.
//!
//! `EXPLAIN` shows the class of the query and its requests, and `EXPLAIN ANALYZE` shows the number of requests sent, and of rows omitted.
//!
//! # Omitted rows
//! A store omits rows that it cannot represent as entities. [`collect`] executes a statement and counts the omitted rows; `DataFrame::collect` does not.
//!
//! ```
//! use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};
//! use table_sql::{SqlOptions, collect, session};
//!
//! # let runtime = tokio::runtime::Runtime::new().unwrap();
//! # runtime.block_on(async {
//! let store = DynTableStore::new(Engine::in_memory());
//! let company = store.untyped("Company")?.create_if_missing().await?;
//! company.insert(&TableEntity::new("Sales", "1")?.with("Age", 36)).await?;
//! let session = session(&store, &SqlOptions::default()).await?;
//! let answer = session.sql("SELECT PartitionKey, max(Age) AS age FROM Company GROUP BY PartitionKey").await?;
//! let answer = collect(answer).await?;
//! assert_eq!(answer.batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod answer;
mod build;
mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
mod column;
mod condition;
mod filter;
mod keys;
mod order;
mod parts;
mod scan;
mod stream;
mod survey;
mod table;

pub use answer::{Answer, collect};
pub use catalog::{SqlOptions, session};
pub use table::StoreTable;
