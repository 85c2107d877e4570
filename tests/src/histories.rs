//! Runs random programs of several clients over a lossy network, and checks their results against a model (CON-11).
//!
//! The account is a fake with exact semantics. A script controls the connection. It drops requests before or after they are applied, delays and duplicates
//! them, truncates responses, and responds as a gateway would. It also has a secondary that lags behind.
//!
//! Clients of `table-azure` run random programs on the account. They run in a single thread and in virtual time, so a seed determines the history. A search for
//! a linearization then checks that the results are possible. Acknowledged calls must have taken effect, rejected calls must not, and ambiguous calls must have
//! taken effect at most once.
//!
//! A write without an `ETag` may take effect once for each delivery, as documented in `docs/lost-answers.md`.

mod check;
mod client;
mod history;
mod mutant;
mod program;
mod run;
mod service;
mod wire;

pub use check::check;
pub use client::account_client;
pub use history::{Call, Change, Content, History, Outcome, Record, Write};
pub use mutant::{Mutant, MutantStore};
pub use program::{Actor, Recorder, Steps, prepare};
pub use run::{Failure, Tally, run};
pub use service::Account;
pub use wire::{Act, LossyWire, Script};
