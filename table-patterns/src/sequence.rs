//! Sequences: consecutive numbers in a partition, such as `ticket 000123`. They have either no gaps or no contention on a single row.
//!
//! # Context
//! Users refer to tickets, invoices and orders by number. Table storage has no counter. If two writers both search for the largest number, they get the same
//! next number.
//!
//! # Two types
//! | | [`GaplessSequence`] | [`BlockSequence`] |
//! |---|---|---|
//! | allocation | in the unit of work that uses the number | in advance |
//! | gaps | none: a failed unit uses no number | numbers allocated but never used, for example after a crash |
//! | duplicates | none, unless [`set`](GaplessSequence::set) lowers the next number | the same |
//! | requests per number | two: a read, and the unit with one more operation | two per block |
//! | concurrency | one writer at a time, limited by the partition's commits per second | unlimited |
//!
//! # Key layout
//! A sequence is stored in one row, in the partition where its numbers are used. The row's `RowKey` is `U+FFFC sequence_` followed by the sequence's name.
//! `Next` (Int64) is the next number: all numbers below it have been allocated. `Owner` (String) is the name of the entity type's schema. Workers and readers
//! of the partition skip the row; a [migration](crate::migrate) copies it.
//!
//! # Guarantee
//! A number is committed at most once, despite failures and concurrent processes. `Next` is changed only if the row's `ETag` is still current. While the row
//! exists, only [`set`](GaplessSequence::set) can lower `Next`. If a gapless unit fails, the next unit gets the same number. Both types may allocate numbers
//! from the same sequence, which can then have gaps.
//!
//! A sequence belongs to the entity type that allocates its first number. If another entity type uses a sequence with the same name in the partition, it gets
//! an error. To share numbers, two entity types must allocate them through one handle.
//!
//! # Bounds
//! Whenever the row of a sequence is removed or set back, restart the programs that use a [`BlockSequence`]. They still hold blocks of numbers that the
//! sequence will assign a second time. This applies to [`set`](GaplessSequence::set), to a restore from a backup, to an import, to the deletion of the table,
//! and to the [erasure](crate::tenant) of a tenant that later returns.
//!
//! Numbers start at 1 and end at `i64::MAX - 1`, because the next number is stored as an `Int64`. If the response to the commit of a gapless unit is lost
//! ([`Error::is_ambiguous`]), check whether the entity exists before writing it again, as for any unit.
//!
//! # When not to
//! If no user reads the number, use a random identifier, which takes no requests. If the number must represent time, use
//! [`LogStamp`](crate::log_tail::LogStamp).
//!
//! ```
//! use table_patterns::EntityStore;
//! use table_patterns::sequence::{BlockSequence, GaplessSequence};
//! use table_patterns::{Engine, Entity};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Desk")]
//! #[partition_key(tenant)]
//! #[row_key("ticket_", number)]
//! struct Ticket { tenant: String, #[digits(6)] number: u32, text: String }
//!
//! # pollster::block_on(async {
//! let tickets = Engine::in_memory().entities::<Ticket>().create_if_missing().await?;
//!
//! // The unit that inserts the ticket takes the number: no gaps, but tickets are inserted one after another.
//! let numbers = GaplessSequence::new(&tickets, "ticket")?;
//! let number = numbers
//!     .next(Ticket::partition("contoso"), |number, unit| {
//!         unit.insert(&Ticket { tenant: "contoso".into(), number, text: "It beeps.".into() }).map(drop)
//!     })
//!     .await?;
//! assert_eq!(number, 1);
//!
//! // A process takes a hundred numbers at once: writers do not wait for each other, but unused numbers become gaps.
//! let numbers = BlockSequence::new(&tickets, "ticket", 100)?;
//! let number: u32 = numbers.next(Ticket::partition("contoso")).await?;
//! assert_eq!(number, 2);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```
//!
//! [`Error::is_ambiguous`]: table_core::Error::is_ambiguous

mod blocks;
mod fault;
mod gapless;
mod row;
#[cfg(test)]
mod tests;

pub use blocks::BlockSequence;
pub use gapless::GaplessSequence;
pub(crate) use row::{PREFIX as SEQUENCE_PREFIX, sets_sequence_back};
