//! One table per period. Expired data is dropped together with its table (PAT-HVD).
//!
//! # Context
//! This pattern is for entities that are deleted together when they reach a certain age, such as login attempts that are kept for a month. Deleting them one by
//! one costs as much as writing them. If a table contains only such entities, dropping it costs one request, regardless of the number of rows (PAT-HVD-1).
//!
//! # Key layout
//! | table | PartitionKey | RowKey |
//! |---|---|---|
//! | `LoginAttempts20140423` | the user, `000123` | date and time, `0635338080000000000` |
//!
//! The table name is the name in the schema followed by the period: `yyyy`, `yyyyQn`, `yyyyMM`, `yyyyMMdd` or `yyyyMMddHH`, in UTC. With one partition per
//! user, no partition becomes hot (PAT-HVD-2). A name always denotes the same period and is never reused (PAT-HVD-4).
//!
//! # Guarantee
//! - An entity is stored in the table of its period. If its period is not retained, it is refused (`OutOfRangeInput`). A write that passed this check before
//!   its period expired can recreate the table after the table was dropped; the next `expire` drops it again.
//! - [`prepare`](PeriodTables::prepare) creates tables in advance (PAT-HVD-5). If the table of a period is missing, [`insert`](PeriodTables::insert) creates
//!   it. Both store the type's schema, which other releases of the program [compare](table_core::Table::create_if_missing) with theirs.
//! - [`expire`](PeriodTables::expire) drops exactly the tables whose period has ended and is no longer retained. It is idempotent and can be interrupted.
//! - A read of several periods merges the tables in key order (PAT-HVD-3). The rows of a partition are ordered by `RowKey`. If the RowKey begins with the time,
//!   this order is chronological. A read of several periods is not a snapshot (CON-9).
//!
//! # Cost
//! A write costs one request. A process's first write to a table takes a few more requests, which open the table. A read costs at least one request per period,
//! several of them concurrently.
//!
//! Expiry costs one listing, two queries, and two requests per dropped table, for the table and its schema. With a feed, it also costs one request per 100
//! registered partitions, at least one for each of the registry's 16 buckets in use. If entities do not have one table per period, [`delete_in_batches`]
//! deletes 100 of them per transaction (PAT-HVD-6).
//!
//! # Bounds
//! Table names have at most 63 characters. A read holds one page of each table in memory, so choose the length of the period such that a read covers only a few
//! periods. On a store whose pages are not in key order (`Capabilities::ordered`), a read holds all selected rows in memory and sorts them.
//!
//! # When not to
//! Do not use this pattern if some entities of a period must be kept longer than others, or if most reads cover many periods.
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
//! let attempts = PeriodTables::<LoginAttempt, _>::new(Engine::in_memory()).retain(30).precreate(1);
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
mod expiry;
mod merge;
mod of_period;
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

/// An entity that is stored in the table of its period.
///
/// The entity may declare a feed, and indexes and lists in its own partition. It may have slots and be written in units of work. [`PeriodTables::entities_of`]
/// returns the [handle](crate::Entities) to the table of the period that contains `instant`. The handle maintains the rows of these patterns, which are dropped
/// together with the table.
///
/// Rows in other partitions or tables would not be dropped. An entity with copies, or with an index in another partition or table, is therefore rejected at
/// compile time.
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
#[diagnostic::on_unimplemented(
    message = "[T255] `{Self}` has no time by which it is assigned to the table of a period",
    label = "expected an entity with `impl Periodic`",
    note = "write `impl Periodic for {Self} {{ const PERIOD: Period = Period::Day; fn instant(&self) -> DateTime<Utc> {{ self.… }} }}`, with a field that never \
            changes"
)]
pub trait Periodic: Entity + Send + Sync {
    /// The length of the period that one table covers.
    const PERIOD: Period;

    /// Returns the time that determines the entity's period. Like the key, it must never change.
    fn instant(&self) -> DateTime<Utc>;
}
