//! Counts the requests of a program. With a meter, a test can limit the number of requests.
//!
//! # Context
//! A store charges for each request, and limits the throughput of each partition. Source code does not show the cost of a call. For example, an index read may
//! take one request or two, and a query may take many pages. A test with a meter measures the cost, and can fail if the cost changes.
//!
//! # Key layout
//! A meter works with any table and any keys.
//!
//! # Guarantee
//! Every call that reaches the store is counted once, when it starts. It is counted even if it fails. Rows and bytes are counted when the response arrives.
//! Clones share the same counts.
//!
//! # Cost
//! A meter sends no requests. Each call acquires a lock and performs two map lookups. The size of a response is computed entity by entity.
//!
//! # Bounds
//! A fan-out is detected by its requests: first pages of the same query for several partitions, in key order. Two concurrent fan-outs may be counted as more
//! than two. Memory use grows with the number of partitions that receive requests, until the counts are [taken](Meter::take).
//!
//! # When not to
//! Do not use a meter under production load. There, traces and the service's metrics cost less.
//!
//! ```
//! use table_advice::meter::Meter;
//! use table_core::{Engine, Entity, TableStoreExt};
//!
//! #[derive(Entity)]
//! #[partition_key(department)]
//! #[row_key(id)]
//! struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
//!
//! # pollster::block_on(async {
//! let meter = Meter::new(Engine::in_memory());
//! let employees = meter.table::<Employee>().create_if_missing().await?;
//! employees.insert(&Employee { department: "Sales".into(), id: 223, age: 34 }).await?;
//! meter.take(); // discards the counts of the setup
//!
//! employees.query(Employee::rows("Sales").id(100..=299)).collect().await?;
//! let reading = meter.take();
//! assert!(reading.requests <= 3 && reading.table_scans == 0);
//! assert_eq!((reading.ranges, reading.rows_returned), (1, 1));
//! assert_eq!(reading.of_partition("Employee", "Sales").requests, 1);
//! # Ok::<(), table_core::Error>(()) }).unwrap();
//! ```

mod counts;
mod recorded;
mod store;
#[cfg(test)]
mod tests;

pub use counts::{Counts, Reading};
pub use recorded::Recorded;
pub use store::Meter;
