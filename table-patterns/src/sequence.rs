//! Sequences: the next number of a partition, `ticket 000123`, without gaps or without a hot row.
//!
//! # Context
//! People number what they talk about: tickets, invoices, orders of a customer. The service has no counter, and two writers that
//! each look for the largest number take the same one.
//!
//! # Two types
//! | | [`GaplessSequence`] | [`BlockSequence`] |
//! |---|---|---|
//! | a number is taken | by the unit of work that uses it | before it is used |
//! | gaps | none: a unit that fails takes no number | what a process held that died, and what was taken and not used |
//! | doubles | never | never |
//! | requests a number | two: a look, and the unit with one operation more | two a block |
//! | writers at once | one after another: a partition gives as many numbers a second as it takes units | as many as you like |
//!
//! # Key layout
//! In the partition of the numbers: `RowKey` `U+FFFC sequence_` and the name, property `Next`: Int64. A number that is not `Next` or above was taken.
//! Workers and readers of the partition leave the row out; a [migration](crate::migrate) copies it.
//!
//! # Guarantee
//! A number is given once, whatever fails when and however many take numbers at the same time, in one process or many: `Next` is changed only under its `ETag`. Both types
//! may take from one sequence, which then has the gaps of blocks.
//!
//! # Bounds
//! Numbers begin with 1 and end at `i64::MAX`. An error whose answer was lost ([`Error::is_ambiguous`]) says of a gapless unit what it says of any unit:
//! look whether the entity is there before it is written again.
//!
//! # When not to
//! Where no person reads the number: a random identifier costs nothing. Where it is to say when: [`LogStamp`](crate::log_tail::LogStamp).
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
//! // In the unit that inserts the ticket: no gap, one ticket after another.
//! let numbers = GaplessSequence::new(&tickets, "ticket")?;
//! let number = numbers
//!     .next(Ticket::partition("contoso"), |number, unit| {
//!         unit.insert(&Ticket { tenant: "contoso".into(), number, text: "It beeps.".into() }).map(drop)
//!     })
//!     .await?;
//! assert_eq!(number, 1);
//!
//! // A hundred at once, for writers that do not wait for each other; what is not used is a gap.
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
