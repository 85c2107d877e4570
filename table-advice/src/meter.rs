//! Meters, which count the requests of a program, so that a test can limit their number.
//!
//! # Context
//! A store charges by request and limits throughput by partition. The code of a program does not show the cost of a call: an index read may take one
//! or two requests, and a page many. A test with a meter measures the cost, and fails as soon as it changes.
//!
//! # Key layout
//! A meter works with any table and any keys.
//!
//! # Guarantee
//! Every call that reaches the store is counted once, at its start, whether it succeeds or not. Rows and bytes are counted when the
//! response arrives. Clones share one count.
//!
//! # Cost
//! A meter sends no requests. Each call takes a lock and two map lookups. The bytes of a response are computed entity by entity.
//!
//! # Bounds
//! A fan-out is recognised by its requests: first pages of the same query, in key order of their partitions. Two concurrent fan-outs
//! may be counted as more than two. Memory grows with each named partition until the reading is [taken](Meter::take).
//!
//! # When not to
//! Do not use a meter in production under load. Traces and the metrics of the service cost less there.
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
//! meter.take(); // discards the counts of the preparation
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
