//! Advice on key layouts before deployment. Runs a workload without a service, and reports load, throttling and cost.
//!
//! # Context
//! The key layout determines the partition of a write and the number of requests in a query. It is chosen before the first user arrives, and is expensive to
//! change later. For example, a log that appends to one partition is hot from the first day (PAT-LOG-5).
//!
//! A [`Workload`] describes the users' requests. It is written in code with the real entities. If the entities do not exist yet, it is read from a small file
//! ([`WorkloadFile`]). It can also be recorded in a running program ([`Meter::recording`](meter::Meter::recording)). A run returns a [`Report`] with a summary,
//! a picture, and assertions for tests.
//!
//! | module | content |
//! |---|---|
//! | [`meter`] | counts of the requests, rows and bytes of a program, for use in tests |
//! | [`spread`] | the distribution of writes over partitions, computed from their keys (PAT-ANTI-1) |
//! | [`workload`] | access patterns with their rates |
//!
//! # Key layout
//! A workload can use any key layout. The example of [`WorkloadFile`] compares the two layouts that PAT-ANTI-1 describes.
//!
//! # Guarantee
//! The same workload and seed always produce the same report. Each pattern has a separate random sequence, so a new pattern does not change the keys of
//! existing patterns. Index rows are counted with their entity (PAT-INTRA-8).
//!
//! # Cost
//! A run sends no requests. Time and memory grow with the number of operations (rate × seconds), which is limited to [2,000,000](workload::MOST_OPERATIONS).
//!
//! # Bounds
//! Operations are evenly spaced, without bursts. The throttling of a partition is computed for each second from the published target (SCL-1). The service's
//! limits are softer (SCL-2), and it moves partitions between servers (SCL-4).
//!
//! The load of a write is its number of entities. The load of a read is its number of pages, because the cost of a page is not published. Only the first twenty
//! pages of a read add to the load, in the second in which the read starts. Later pages count only towards the cost. A read of a range of partitions adds no
//! load to any of them. A page is assumed to end after 1,000 entities (PAGE-1).
//!
//! Costs are computed from requests and bytes with your [`Prices`]. A month has 30 days.
//!
//! [`Report::container`] returns the physical partitions of a Cosmos DB for NoSQL container under the workload.
//!
//! # When not to
//! Do not use this package to predict the latency of requests. Measure the service itself instead. To count the requests of a running program, use a [`meter`].
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
//! report.require_max_partition_share(0.10)?; // the error says what to change
//! report.require_max_requests("latest", 1)?;
//! report.require_no_throttling()?;
//! assert!(report.requests("log in")? <= 3);
//! # Ok::<(), table_core::Error>(())
//! ```

mod container;
mod demand;
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
