//! Log tail: the newest events of a partition are its first rows (PAT-LOG).
//!
//! # Context
//! Events are appended and the newest are read most: expense claims, alarms, page views. A table answers "the first n" of a
//! partition at the price of n rows, however long the partition is; so the newest must come first (PAT-LOG-1).
//!
//! # Key layout
//! | PartitionKey | RowKey |
//! |---|---|
//! | whose log, `000123` | [`LogStamp`]: inverted ticks and a tie breaker, `2519936321678765432_fffffffe00000007` |
//!
//! # Guarantee
//! - No event is lost to another: [`append`](LogTail::append) inserts and never replaces. Two events in one tick differ in the
//!   tie breaker, which holds the number of the event at its writer and the writer's own random number (PAT-LOG-4).
//! - Order: by tick, the latest first. Within a tick the events of one [`LogTail`] and its clones are in the order of their
//!   appends, the latest first; those of several have different keys, in an order that says nothing of which was first.
//! - The stamps of one [`LogTail`] never go back, also where its clock does.
//! - An answer that was lost on the way is looked up (CON-11): an event is there once, or the error says that it is not known.
//! - A [`Follow`] gives each event once, the oldest first, if its append took no longer than the time to settle.
//!
//! # Cost
//! An append is one request. The newest n are one request for 1,000 of them and partition. A poll of a follower that is up to
//! date is one request a partition; one that is behind needs a few more, because it must find the oldest of what it missed.
//!
//! # Bounds
//! One partition takes what one partition takes (PAT-LOG-5): 2,000 entities a second at the service. For more, let the
//! partition key have a `bucket(stamp, n)`: appends go to n partitions, and every read here asks all n and merges them.
//!
//! # When not to
//! For log lines that are read by time range and seldom at all: [blobs](crate::log_blobs) are cheaper (PAT-ANTI-2). For events
//! that are deleted together by age: [a table a period](crate::periods) (PAT-HVD).
//!
//! ```
//! use table_patterns::log_tail::{LogStamp, LogTail};
//! use table_patterns::{Entity, TableStoreExt, embedded::Engine};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "EmployeeExpense")]
//! #[partition_key(employee)]
//! #[row_key(stamp)]
//! struct Expense { #[digits(6)] employee: u32, stamp: LogStamp, cents: i64 }
//!
//! # pollster::block_on(async {
//! let expenses = LogTail::new(Engine::in_memory().table::<Expense>().create_if_missing().await?);
//! for cents in [4_500, 990, 12_000] {
//!     expenses.append(|stamp| Expense { employee: 123, stamp, cents }).await?;
//! }
//! let newest = expenses.newest(Expense::partition(123), 2).await?;
//! assert_eq!(newest.iter().map(|expense| expense.cents).collect::<Vec<_>>(), [12_000, 990]); // PAT-LOG-3
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod append;
mod fault;
mod follow;
mod read;
mod stamp;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use table_core::Table;
use table_core::clock::Clock;
use table_core::entity::Entity;
use table_core::schema::{EntitySchema, KeyPiece};

use crate::entities::{Entities, NoOutbox};
use append::Writer;
pub use follow::Follow;
pub use read::{LogSlice, WholePartitions};
pub use stamp::{Inverted, LogStamp};

/// A table whose entities are events, the newest first in each partition.
///
/// `E` has a RowKey that ends with its [`LogStamp`]: `#[row_key(stamp)]`, or `#[row_key("expense_", stamp)]` where other types
/// share the partition. Another RowKey does not compile. Clones share the writer, and with it the order of their appends.
pub struct LogTail<E, S, O = NoOutbox> {
    table: Entities<E, S, O>,
    writer: Arc<Writer>,
}

impl<E: Entity, S, O> LogTail<E, S, O> {
    /// The log that a table holds, with the system's clock and a writer's number of its own. Taken by their [handle](crate::Entities) its events keep
    /// whatever they declare.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, O>>) -> Self {
        Self::with_clock(entities, Clock::default())
    }

    /// The log with another clock.
    #[must_use]
    pub fn with_clock(entities: impl Into<Entities<E, S, O>>, clock: Clock) -> Self {
        const {
            assert!(
                is_log(E::SCHEMA),
                "the RowKey of a log ends with its `LogStamp`: `#[row_key(stamp)]` (PAT-LOG-1)"
            );
        }
        Self { table: entities.into(), writer: Arc::new(Writer::new(clock)) }
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.table.table()
    }

    /// The text before the stamp in every RowKey.
    fn prefix() -> String {
        let literal = |piece: &KeyPiece| match piece {
            KeyPiece::Literal(text) => Some(*text),
            KeyPiece::Field { .. } => None,
        };
        E::SCHEMA.row_key.iter().filter_map(literal).collect()
    }
}

/// Whether a RowKey is literals and a stamp at the end.
const fn is_log(schema: &EntitySchema) -> bool {
    let mut pieces = schema.row_key;
    while let [KeyPiece::Literal(_), rest @ ..] = pieces {
        pieces = rest;
    }
    match pieces {
        [KeyPiece::Field { codec, .. }] => matches!(codec.as_bytes(), b"logstamp"),
        _ => false,
    }
}

impl<E, S: Clone, O: Clone> Clone for LogTail<E, S, O> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), writer: Arc::clone(&self.writer) }
    }
}

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for LogTail<E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogTail").field("table", &self.table).field("writer", &self.writer).finish()
    }
}
