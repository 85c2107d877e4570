//! Random programs of several clients over a lossy network, and their answers checked against a model (CON-11).
//!
//! A fake account with exact semantics stands behind a scripted wire, which drops requests before or after they are applied, delays and
//! doubles them, cuts answers, answers in a gateway's words, and has a secondary that is behind. Clients of `table-azure` run random
//! programs on it, in one thread and in virtual time, so that a seed is a history. A search for a linearization then returns whether the
//! answers can be true: what was acknowledged happened, what was refused did not, what is ambiguous did at most once.
//!
//! A write that names no `ETag` may happen once more for each time it was sent again; `docs/lost-answers.md` says so to users.

mod check;
mod client;
mod history;
mod program;
mod run;
mod service;
mod wire;

pub use check::check;
pub use client::account_client;
pub use history::{Call, Change, Content, History, Outcome, Record, Write};
pub use program::{Actor, Recorder, Steps, prepare};
pub use run::{Failure, Tally, run};
pub use service::Account;
pub use wire::{Act, LossyWire, Script};
