//! Meter: counts the requests of a program, so that a test can hold them to a number.
//!
//! # Context
//! A store charges by the request and slows down by the partition. What a call of a program costs is not seen in its code: an
//! index read may be one request or two, a page many. A test that counts sees it, and fails on the day it changes.
//!
//! # Key layout
//! None: any table, any keys.
//!
//! # Guarantee
//! Every call that reaches the store is counted once, when it is made, whether it succeeds or not; rows and bytes when the answer is
//! there. Clones share one count.
//!
//! # Cost
//! No requests. A lock and two look-ups in a map for each call; the bytes of what came back are counted entity by entity.
//!
//! # Bounds
//! A fan-out is recognised by its traces: first pages of one query that follow each other in key order of their partitions. Two of them
//! that run at the same time are counted as more.
//! Memory for each partition that was named, until it is [taken](Meter::take).
//!
//! # When not to
//! In production under load: there, traces and the service's own metrics cost less.
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
//! meter.take(); // what was only preparation
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
