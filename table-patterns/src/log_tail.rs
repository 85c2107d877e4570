//! Log tail: the newest events in a partition are its first rows (PAT-LOG).
//!
//! # Context
//! Events such as expense claims, alarms and page views are appended, and usually the newest events are read. The first n rows of a partition can be read at
//! the same cost, however long the partition is. The newest event must therefore come first (PAT-LOG-1).
//!
//! # Key layout
//! | PartitionKey | RowKey |
//! |---|---|
//! | the log's owner, `000123` | [`LogStamp`]: inverted ticks and a tiebreaker, `2519936321678765432_fffffffe00000007` |
//!
//! # Guarantee
//! - No event overwrites another, because [`append`](LogTail::append) inserts and never replaces. Two events with the same tick differ in the tiebreaker, which
//!   contains the writer's random number and event counter (PAT-LOG-4).
//! - Events are ordered by tick, latest first. Within a tick, the events of one [`LogTail`] and its clones are in reverse append order. Events from different
//!   writers have different keys, and their order within a tick is arbitrary.
//! - The stamps that [`append`](LogTail::append) creates for one [`LogTail`] never decrease, even if its clock moves backwards.
//! - If a response is lost, the event is looked up (CON-11). Either the event is stored exactly once, or the error reports an unknown outcome.
//! - A [`LogFollower`] returns each event once, oldest first, provided that appending the event took no longer than the settling time.
//!
//! # Cost
//! An append costs one request. Reading the newest n events costs one request per 1,000 events and partition. The read includes one event more than n, to find
//! out whether older events exist, so the newest 1,000 events take two requests. A poll takes one request per partition if the follower is up to date. A
//! follower that is behind needs a few more requests to find the oldest event that it has not returned.
//!
//! # Bounds
//! A partition's throughput is limited (PAT-LOG-5): 2,000 entities per second on the service. For a higher rate, add a `bucket(stamp, n)` to the partition key.
//! Appends are then distributed over n partitions, and every read queries all n and merges the results.
//!
//! # When not to
//! If log lines are rarely read, and only by time range, use [blobs](crate::log_blobs), which are cheaper (PAT-ANTI-2). If events expire and are deleted
//! together, use [one table per period](crate::periods) (PAT-HVD).
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
//! assert_eq!(newest.iter().map(|expense| expense.cents).collect::<Vec<_>>(), [12_000, 990]); // newest first (PAT-LOG-3)
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

use table_core::__private::require_log;
use table_core::Table;
use table_core::clock::Clock;
use table_core::entity::Entity;
use table_core::schema::{EntitySchema, KeyPiece};

use crate::entities::{Entities, NoOutbox};
use append::Writer;
pub use follow::LogFollower;
pub use read::{LogSlice, WholePartitions};
pub use stamp::{Inverted, LogStamp};

/// A table of events. In each partition, the newest event comes first.
///
/// The RowKey of `E` must end with its [`LogStamp`]: `#[row_key(stamp)]`, or `#[row_key("expense_", stamp)]` if other types share the partition. Other
/// `RowKey`s do not compile. Clones share the writer, so their appends have a common order.
pub struct LogTail<E, S, O = NoOutbox> {
    table: Entities<E, S, O>,
    writer: Arc<Writer>,
}

impl<E: Entity, S, O> LogTail<E, S, O> {
    /// Creates a handle to a log, with the system clock and a new random writer number. The given [handle](crate::Entities) maintains all patterns that the
    /// event type declares.
    #[must_use]
    pub fn new(entities: impl Into<Entities<E, S, O>>) -> Self {
        Self::with_clock(entities, Clock::default())
    }

    /// Creates a handle to a log, with the given clock and a new random writer number.
    #[must_use]
    pub fn with_clock(entities: impl Into<Entities<E, S, O>>, clock: Clock) -> Self {
        const { require_log(E::SCHEMA, is_log(E::SCHEMA)) };
        Self { table: entities.into(), writer: Arc::new(Writer::new(clock)) }
    }

    /// Returns the table with the events.
    #[must_use]
    pub const fn table(&self) -> &Table<E, S> {
        self.table.table()
    }

    /// Returns the prefix of every RowKey in the log. It consists of the literals before the stamp.
    fn prefix() -> String {
        let literal = |piece: &KeyPiece| match piece {
            KeyPiece::Literal(text) => Some(*text),
            KeyPiece::Field { .. } => None,
        };
        E::SCHEMA.row_key.iter().filter_map(literal).collect()
    }
}

/// Returns `true` if the schema's `RowKey`s consist of literals followed by a stamp.
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

clone_fields!([E, S: Clone, O: Clone] LogTail[E, S, O] { table, writer });

debug_fields!([E, S: fmt::Debug, O: fmt::Debug] LogTail[E, S, O] { table, writer });
