//! One table for each period: expired data is dropped with its table (PAT-HVD).
//!
//! # Context
//! Entities that are deleted together, by age: login attempts, kept for a month. Deleting them one by one costs as much as
//! writing them; dropping the table they are alone in costs one request, whatever it holds (PAT-HVD-1).
//!
//! # Key layout
//! | table | PartitionKey | RowKey |
//! |---|---|---|
//! | `LoginAttempts20140423` | the user, `000123` | date and time, `0635338080000000000` |
//!
//! The table's name is that of the design with the period behind it: `yyyyMM`, `yyyyMMdd` or `yyyyMMddHH`, in UTC. A user is a
//! partition, so that no partition is hot (PAT-HVD-2). A name stands for one period for ever, and so is never used again
//! (PAT-HVD-4).
//!
//! # Guarantee
//! - An entity lies in the table of its own instant. Outside the periods that are kept it is refused (`OutOfRangeInput`): no late
//!   write makes an expired table anew.
//! - [`prepare`](PeriodTables::prepare) makes tables ahead of time (PAT-HVD-5); a table that is missing all the same is made by
//!   the first write.
//! - [`expire`](PeriodTables::expire) drops every table whose period is over and no longer kept, and no other. Run twice, or
//!   stopped in between, it does the same.
//! - Reads over several periods merge the tables in key order (PAT-HVD-3): for each partition in the order of its rows, which is
//!   that of time if the RowKey is. They are of no snapshot (CON-9).
//!
//! # Cost
//! A write is one request. A read is one request a period at least, several at once. Expiry is one listing and one request a
//! table. Where there is no table to drop, [`delete_in_batches`] deletes 100 entities a transaction (PAT-HVD-6).
//!
//! # Bounds
//! Names have at most 63 characters. Reads of many periods hold a page of each: choose a period so that a read meets few.
//!
//! # When not to
//! Where single entities of a period are kept longer than others, or most reads are over many periods.
//!
//! ```
//! use chrono::{DateTime, Duration, Utc};
//! use futures_util::TryStreamExt;
//! use table_patterns::periods::{Period, PeriodTables, Periodic};
//! use table_patterns::{Entity, embedded::Engine, ticks};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "LoginAttempts")]
//! #[partition_key(user)]
//! #[row_key(at)]
//! struct LoginAttempt { #[digits(6)] user: u32, at: DateTime<Utc>, succeeded: bool }
//!
//! impl Periodic for LoginAttempt {
//!     const PERIOD: Period = Period::Day;
//!     fn instant(&self) -> DateTime<Utc> { self.at }
//! }
//!
//! # pollster::block_on(async {
//! let attempts = PeriodTables::<LoginAttempt, _>::new(Engine::in_memory()).keep(30).ahead(1);
//! attempts.prepare().await?;
//! let (now, yesterday) = (ticks::now(), ticks::now() - Duration::days(1));
//! for at in [now, yesterday] {
//!     attempts.insert(&LoginAttempt { user: 123, at, succeeded: true }).await?;
//! }
//! let query = attempts.query(LoginAttempt::partition(123), yesterday, now)?;
//! let found: Vec<_> = query.stream().map_ok(|attempt| attempt.at).try_collect().await?;
//! assert_eq!(found, [yesterday, now]);
//!
//! let old = LoginAttempt { user: 123, at: now - Duration::days(31), succeeded: true };
//! assert_eq!(attempts.insert(&old).await.unwrap_err().rule(), Some("PAT-HVD-4"));
//! attempts.expire().await?;
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod batched;
mod merge;
mod period;
mod query;
mod tables;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use table_core::entity::Entity;

pub use batched::{BatchedDelete, BatchedDeleteError, DeleteProgress, delete_in_batches};
pub use period::Period;
pub use query::PeriodQuery;
pub use tables::PeriodTables;

/// An entity that lies in the table of its period.
///
/// It may declare indexes of its own partition, lists there and a feed, have slots and be written in units: [`PeriodTables::entities_of`] gives
/// the [handle](crate::Entities) on the table of an instant, which keeps all of them, and a period's table is dropped with all of them. What
/// lies elsewhere would stay behind then: an entity with an index in another partition or table, or with copies, is refused while it compiles.
///
/// ```compile_fail,E0080
/// # use chrono::{DateTime, Utc};
/// use table_patterns::periods::{Period, PeriodTables, Periodic};
/// use table_patterns::{Engine, Entity};
///
/// #[derive(Entity)]
/// #[entity(table = "LoginAttempts")]
/// #[partition_key(user)]
/// #[row_key(at)]
/// #[index(ByAddress, table = "Addresses", partition_key(address), row_key(user, "_", at))]
/// struct LoginAttempt { #[digits(6)] user: u32, at: DateTime<Utc>, address: String }
///
/// impl Periodic for LoginAttempt {
///     const PERIOD: Period = Period::Day;
///     fn instant(&self) -> DateTime<Utc> { self.at }
/// }
///
/// let attempts = PeriodTables::<LoginAttempt, _>::new(Engine::in_memory());
/// ```
pub trait Periodic: Entity + Send + Sync {
    /// How long a period is.
    const PERIOD: Period;

    /// The instant that says which period it is of. It never changes, as a key does not.
    fn instant(&self) -> DateTime<Utc>;
}
