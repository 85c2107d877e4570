//! Do copies in other partitions follow their sources, whatever dies, comes late, comes twice or is lost?

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

#[path = "outbox/archive.rs"]
mod archive;
#[path = "outbox/company.rs"]
mod company;
#[path = "outbox/deaths.rs"]
mod deaths;
#[path = "outbox/feeds.rs"]
mod feeds;
#[path = "outbox/poison.rs"]
mod poison;
#[path = "outbox/reads.rs"]
mod reads;
#[path = "outbox/sweeps.rs"]
mod sweeps;
#[path = "outbox/workers.rs"]
mod workers;
