//! Advice: a workload replayed against a layout without a service, to see heat, throttling and cost before deployment.
//!
//! # Context
//! Which partition a write goes to, and how many requests a question takes, is decided by the layout of the keys, long before there
//! are users. Afterwards it is dear to change; a log that appends to one partition is hot from its first day (PAT-LOG-5). A
//! [`Workload`] says what the users will do: in code on the real entities, in a small file on keys that do not exist yet
//! ([`WorkloadFile`]), or as a [`Meter`](crate::meter::Meter::recording) recorded it. A run gives a [`Report`]: text, a picture, and
//! assertions for a test.
//!
//! # Key layout
//! Any. The layouts of PAT-ANTI-1 side by side are in the example of [`WorkloadFile`].
//!
//! # Guarantee
//! The same workload with the same seed gives the same report. Each pattern draws from a sequence of its own: one
//! more pattern leaves the keys of the others as they were. Copies of declared indexes are counted with the entity (PAT-INTRA-8).
//!
//! # Cost
//! No requests. Time and memory grow with rate × seconds, of which there may be [2,000,000](workload::MOST_OPERATIONS).
//!
//! # Bounds
//! Operations come evenly, without bursts. A partition is throttled by the published target (SCL-1) in each second for itself; the
//! service's own limits are softer (SCL-2), and it moves partitions between servers (SCL-4). A write counts with its entities, a read
//! with its pages: what a page weighs is not published. The pages of a read follow each other, so twenty count in the second it begins,
//! and later ones are in the cost alone. A read of many partitions warms none of them in the report. Pages are assumed to end after
//! 1,000 entities looked at (PAGE-1). Money is requests and bytes at the
//! [`Prices`] that you give; a month has 30 days.
//!
//! With the feature `hierarchy`, the same run gives the physical partitions that a container of Cosmos DB for NoSQL would have:
//! `Report::container`.
//!
//! # When not to
//! To learn how long a request takes: measure the service. For what a running program asks: [`meter`](crate::meter).
//!
//! ```
//! use table_patterns::Entity;
//! use table_patterns::advice::{Distribution, Step, Workload};
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
//! report.max_partition_share(0.10)?; // fails in words that say what to do
//! report.max_requests("latest", 1)?;
//! report.no_throttling()?;
//! assert!(report.requests("log in")? <= 3);
//! # Ok::<(), table_patterns::Error>(())
//! ```

#[cfg(feature = "hierarchy")]
mod asked;
#[cfg(feature = "hierarchy")]
mod container;
#[cfg(feature = "hierarchy")]
mod design;
mod distribution;
mod draw;
mod fault;
mod file;
mod heat_map;
mod picture;
mod prices;
mod random;
mod report;
mod run;
mod show;
mod step;
#[cfg(test)]
mod tests;
pub mod workload;

#[cfg(feature = "hierarchy")]
pub use container::Container;
#[cfg(feature = "hierarchy")]
pub use design::Design;
pub use distribution::Distribution;
pub use draw::Draw;
pub use file::WorkloadFile;
pub use heat_map::HeatMap;
pub use prices::Prices;
pub use report::{PatternCost, Report, Throttling};
pub use step::Step;
pub use workload::Workload;
