//! The measurements of the engine. Each is in a separate file and adds rows to the table of results.

pub mod backfill;
pub mod base_size;
pub mod codec;
pub mod deletions;
pub mod drop;
pub mod filter;
pub mod growth;
pub mod index;
pub mod insert;
pub mod key;
pub mod large_get;
pub mod large_page;
pub mod ledger;
pub mod long_keys;
pub mod memory;
pub mod outbox;
pub mod page;
pub mod period;
pub mod point_get;
pub mod reopen;
pub mod sustained;
pub mod transaction;
pub mod two_readers;
pub mod update;
pub mod view;

use crate::Outcome;
use crate::large::Large;
use crate::report::Report;
use crate::stage::Stage;

/// The name of a measurement on the command line, and the function that runs it.
pub type Row = (&'static str, fn(&Stage, &mut Report) -> Outcome<()>);

/// All measurements, read-only ones first.
pub const ROWS: &[Row] = &[
    ("key", key::measure),
    ("codec", codec::measure),
    ("point_get", point_get::measure),
    ("page", page::measure),
    ("filter", filter::measure),
    ("index", index::measure),
    ("insert", insert::measure),
    ("transaction", transaction::measure),
    ("update", update::measure),
    ("memory", memory::measure),
    ("growth", growth::measure),
    ("reopen", reopen::measure),
    ("drop", drop::measure),
    ("period", period::measure),
    ("backfill", backfill::measure),
    ("view", view::measure),
    ("outbox", outbox::measure),
    ("ledger", ledger::measure),
    ("base_size", base_size::measure),
    ("deletions", deletions::measure),
    ("long_keys", long_keys::measure),
];

/// The name of a measurement in a full run, and the function that runs it.
pub type LargeRow = (&'static str, fn(&Large, &mut Report) -> Outcome<()>);

/// The measurements performed only in a full run. They run after [`ROWS`].
pub const LARGE_ROWS: &[LargeRow] = &[
    ("large_get", large_get::measure),
    ("large_page", large_page::measure),
    ("two_readers", two_readers::measure),
    ("sustained", sustained::measure),
];
