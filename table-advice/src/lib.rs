//! Advice on the layout of keys before deployment: a workload is replayed without a service and reports heat, throttling and cost.
//!
//! # Context
//! The layout of the keys decides which partition a write goes to and how many requests a query takes. It is chosen before there are
//! users, and expensive to change later. A log that appends to one partition, for example, is hot from its first day (PAT-LOG-5). A
//! [`Workload`] describes the requests of the users: in code on the real entities, in a small file for keys that do not exist yet
//! ([`WorkloadFile`]), or as a recording of a running program ([`Meter::recording`](meter::Meter::recording)). A run returns a
//! [`Report`] with a text, a picture, and assertions for a test.
//!
//! | module | content |
//! |---|---|
//! | [`meter`] | requests, rows and bytes of a program, counted for tests |
//! | [`spread`] | spread of writes over partitions, measured on keys (PAT-ANTI-1) |
//! | [`workload`] | patterns of access with their rates |
//!
//! # Key layout
//! Any. The example of [`WorkloadFile`] compares the layouts of PAT-ANTI-1.
//!
//! # Guarantee
//! The same workload with the same seed returns the same report. Each pattern has its own random sequence, so an additional pattern does
//! not change the keys of the others. Rows of declared indexes are counted with their entity (PAT-INTRA-8).
//!
//! # Cost
//! No requests. Time and memory grow with rate × seconds, which may be at most [2,000,000](workload::MOST_OPERATIONS).
//!
//! # Bounds
//! Operations are evenly spaced, without bursts. Throttling of a partition is decided by the published target (SCL-1) for each second
//! alone; the limits of the service are softer (SCL-2), and it moves partitions between servers (SCL-4). A write counts with its entities and
//! a read with its pages, because the cost of a page is not published. A read has up to twenty pages in the second it starts; later pages
//! are only part of the cost. A read of many partitions adds no heat to any of them. Pages are assumed to end after 1,000 entities
//! (PAGE-1). Money is requests and bytes at the [`Prices`] that you pass; a month has 30 days.
//!
//! [`Report::container`] gives the physical partitions that a container of Cosmos DB for NoSQL would have under the workload.
//!
//! # When not to
//! To measure the latency of requests, measure the service. To count the requests of a running program, use a [`meter`].
//!
//! ```
//! use table_advice::{Distribution, Step, Workload};
//! use table_core::Entity;
//! # use chrono::{DateTime, Utc};
//!
//! #[derive(Entity)]
//! #[partition_key(department, "_", employee)]
//! #[row_key(at)]
//! struct Event { #[without('_')] department: String, #[digits(6)] employee: u32, at: DateTime<Utc> }
//!
//! let employees = Distribution::zipf(2_000, 0.8)?;
//! let workload = Workload::new("log-ins")
//!     .seconds(20)
//!     .pattern("log in", 400.0, {
//!         let employees = employees.clone();
//!         move |draw| {
//!             let employee = u32::try_from(draw.of(&employees)).unwrap_or_default();
//!             Step::write(&Event { department: "Sales".into(), employee, at: draw.instant() })
//!         }
//!     })
//!     .pattern("latest", 30.0, move |draw| {
//!         let employee = u32::try_from(draw.of(&employees)).unwrap_or_default();
//!         Step::read(&Event::partition("Sales", employee), 10, 10 * 300)
//!     });
//!
//! let report = workload.run()?;
//! report.max_partition_share(0.10)?; // the error says what to change
//! report.max_requests("latest", 1)?;
//! report.no_throttling()?;
//! assert!(report.requests("log in")? <= 3);
//! # Ok::<(), table_core::Error>(())
//! ```

mod asked;
mod container;
mod design;
mod distribution;
mod draw;
mod fault;
mod file;
mod heat_map;
pub mod meter;
mod picture;
mod prices;
mod random;
mod report;
mod run;
mod show;
pub mod spread;
mod step;
#[cfg(test)]
mod tests;
pub mod workload;

pub use container::Container;
pub use design::Design;
pub use distribution::Distribution;
pub use draw::Draw;
pub use file::WorkloadFile;
pub use heat_map::HeatMap;
pub use prices::Prices;
pub use report::{PatternCost, Report, Throttling};
pub use step::Step;
pub use workload::Workload;
