//! Materialised views: a read model built from a change feed, with sums that count each entity once (IMP-6).
//!
//! # Context
//! How many employees does each department have? How many routes start at an airport? Answering these questions from the entity rows requires a scan. A view is
//! another table, which is laid out to answer them and is updated after each change to the entity rows: the read side of CQRS.
//!
//! # Key layout
//! In the table of the view's rows:
//!
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | as declared by the row type | as declared | a row put by one source entity, or a row of sums to which many entities contribute |
//! | a partition of the view | `U+FFFC view_by_` and 32 hexadecimal digits | `Source`, `Rows`, `Sums`: JSON; one source entity's rows and contributions to sums in this partition; `Cut`: the entity's contributions at the start of a recount, for rows of sums whose property `ViewRecount` contains the recount's identifier |
//! | a partition of the source | `U+FFFC view_of_` and the RowKey of the source entity | `Places`: JSON; the view partitions to which the entity contributes |
//! | a partition of the source | `U+FFFC view_cursor` | `Cursor`: JSON; the position up to which the partition's feed has been applied |
//! | `view` | `U+FFFC view_poison_` and 32 hexadecimal digits | `Poison`: JSON; an entity or a partition that was set aside, with its error; `Rebuilds`: JSON; the identifiers of rebuilds begun since then, at most 16 |
//! | `view` | `U+FFFC view_lease` | `Holder`: the follower currently applying changes |
//! | `view` | `U+FFFC view_sighting` | `Lease`, `First`: the last lease of another follower that was seen, and the time it was first seen |
//! | `view` | `U+FFFC view_state` | `Ready`: Boolean; `Id`: Guid that distinguishes the view from earlier views with the same table |
//!
//! The digits are the first 128 bits of the SHA-256 of the source's PartitionKey and RowKey, each followed by U+0000. Typed reads skip these rows.
//!
//! A [`View`] is a pure function that computes one source entity's rows and contributions to sums. A [`ViewTable`] maintains them. The feed lists the changed
//! entities; the view then reads their current state.
//!
//! # Guarantee
//! - In each partition of the view, the rows and sums derived from an entity change in the same transaction as the entity's *record*, which lists them.
//!   Applying an entity adds only the difference from its record to the sums, so an entity counts once even if its changes are delivered twice.
//! - After the feeds are applied, the view equals the projection of the source's rows, except for entities that were set aside because their projection failed.
//!   Changes may be delivered late, twice, in any order, and to several processes concurrently, any of which may die at any point. Each record is read before
//!   its entity and is then written conditionally on its `ETag`, even if nothing has changed, so a slow worker's stale write always fails. For the same reason,
//!   an entity that moves out of a partition leaves an empty record behind.
//! - The changes in a partition are applied in order, each at least once. The [cursor](crate::feed::Cursor) then moves past them, and never moves back.
//!   Partitions are neither ordered nor isolated: a reader can see an entity in one partition of the view but not yet in another (PAT-EC-6).
//! - A new view is [building](ViewState::Building) and refuses reads until it is [built](ViewTable::rebuild). A rebuild processes every row as if it had
//!   changed. It can be resumed, and does not block reads or writes of the sources. Once it is complete, followers skip the changes made before it started. A
//!   rebuild repairs a view, including its sums, after a feed was trimmed, the projection was changed or another tool wrote to the view. Sums to which no
//!   entity contributes are set to 0 if their partition contains at least one record. Rows added by another tool are not removed.
//! - Continuation tokens contain keys, so they remain valid after a rebuild. If a view's table is deleted and recreated, the view is building again. A handle
//!   that has found the view ready checks again every ten seconds, and fails with `IndexNotReady` if the view is building. A rebuild rejects a resume position
//!   that belongs to the deleted view.
//!
//! # Cost
//! | verb | requests |
//! |---|---|
//! | read | 1, and 1 more every ten seconds for the view's state |
//! | write to a source that declares `#[entity(feed)]` | 2 more operations: the feed's entries and its head |
//! | [catching up](ViewTable::catch_up) | 1 range query for 1,000 partitions with a feed, and 3 requests for the lease; in the first call of a process, 2 gets for each partition, 16 concurrently; for each partition with changes, some requests for the head, the entries and the cursor; then for each changed entity 2 gets, or pages for eight or more entities with adjacent keys, and 1 get for each partition of the view |
//! | an entity that moved to another partition of the view | 2 more gets, and 1 get in each of the two partitions; entities that moved between the same two partitions share transactions, one in each for up to 100 |
//! | all entities that changed together | for each partition of the view, 1 get per changed sum, and 1 transaction for as many entities as fit in 100 operations: one per entity, one per row put, one per sum |
//! | rebuild | 2 range queries for 256 adjacent source rows, and 1 get for each partition of the view that previously contained one of them; records, sums and transactions as above; 1 scan of each table, and each partition of the view read once more, or twice if a sum differs from the records; for each record that is not empty, the list of its entity, adjacent lists in pages; 2 range queries for 1,000 partitions with a feed, and 4 gets and 1 write for each; for 100 entities or partitions that are set aside, 2 writes |
//!
//! # Bounds
//! - **Transactions:** a change to one entity in one partition of the view is one transaction, with a total of at most 99 rows put, rows removed and sums
//!   changed. The list of an entity's partitions has at most 32 Ki characters, and so have the lists of its rows and of its contributions in one partition. An
//!   entity can therefore have 99 rows in a partition if their `RowKey`s have at most about 300 characters, or fewer if JSON escapes some of them. An entity
//!   that moves to another partition leaves an empty record in the old one. Empty records do not make later changes more expensive.
//! - **Memory:** a rebuild holds the sums of one partition of the view in memory, and 256 entities with their records. `catch_up` needs the same amount of
//!   memory. On a store without key order, such as Cosmos DB, a rebuild also holds about 32 bytes for each partition of the view, for at most a million
//!   partitions. A process that resumes the rebuild rereads the view's partitions.
//! - **Sums:** a sum is an `Int64`. If it overflows, the change fails and nothing is written. All changes to one sum write the same row, so one partition's
//!   write throughput limits the rate of these changes.
//! - **Row ownership:** a row written with `put` belongs to one source entity, so its key must contain the entity's key. A row is written either with `put` or
//!   as a row of sums, never both.
//! - **Keys:** the `RowKey` of a source entity has at most 503 UTF-16 code units.
//! - **Empty records:** deleting an entity leaves an empty record behind. To remove such records, raise [`View::VERSION`] and rebuild.
//! - **Missed changes:** a partition is [set aside](ViewTable::poison) if the view has missed some of its changes. This happens if the feed was trimmed, if the
//!   table was deleted and recreated or restored from a backup, or if the view's cursor in the feed is corrupted. Later changes are still applied. A
//!   [`rebuild`](ViewTable::rebuild) repairs the partition. If a partition's feed was quiet when its table was deleted, the view does not notice the deletion
//!   until the next change in the partition, and retains the partition's rows until then.
//! - **Restores:** if the source is restored from a backup during a rebuild, rebuild the view again. The rebuild itself detects a restore only in the first
//!   1,000 partitions with a feed. It no longer detects the restore in a partition whose restored feed has received as many changes as the restore discarded.
//! - **Recreated tables:** a process that was applying a change while the view's table was deleted and recreated can write the change to the new table. If the
//!   new view was rebuilt before this write, rebuild it again. To avoid this, stop the followers before you delete the table.
//! - **Trimming:** a view does not trim feeds. [Trim](crate::feed::Feed::trim) them up to the [position](ViewTable::position) of the slowest view.
//! - **Row types:** the table belongs to the view, and its schema has a single row type. Source entities are distinguished from other rows in their table by
//!   key format. Rows and changes with other keys, such as the parts of a wide entity, are ignored.
//!
//! # When not to
//! To find the same entity by another key, use an [index](crate::index).
//! To copy properties from one entity to another, use [`copies`](crate::copies). If a sum is rarely needed, read the partition.
//!
//! ```
//! use table_patterns::EntityStore;
//! use table_patterns::view::{Projection, View, ViewTable};
//! use table_patterns::{Engine, Entity, Result};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company", feed)]
//! #[partition_key(department)]
//! #[row_key(id)]
//! struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Headcounts")]
//! #[partition_key(department)]
//! #[row_key("headcount")]
//! struct Headcount { department: String, employees: i64, years: i64 }
//!
//! /// The number of employees in a department, and the sum of their ages.
//! struct Headcounts;
//!
//! impl View for Headcounts {
//!     type Source = Employee;
//!     type Row = Headcount;
//!
//!     fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
//!         let of_department = || Headcount::key(&employee.department);
//!         view.add(of_department(), Headcount::EMPLOYEES, 1)?;
//!         view.add(of_department(), Headcount::YEARS, employee.age.into())
//!     }
//! }
//!
//! # pollster::block_on(async {
//! let store = Engine::in_memory();
//! let employees = store.entities::<Employee>().create_if_missing().await?;
//! let view = ViewTable::<Headcounts, _>::new(store).create_if_missing().await?;
//! view.rebuild().run().await?;
//!
//! for id in 1..=3 {
//!     employees.insert(&Employee { department: "Sales".into(), id, age: 30 }).await?;
//! }
//! employees.update(Employee::key("Sales", 2), |employee| employee.age = 40).await?;
//! assert_eq!(view.freshness().await?.pending, 4);
//! view.catch_up(100).await?;
//!
//! let sales = view.table().await?.get(Headcount::key("Sales")).await?.expect("three work there");
//! assert_eq!((sales.employees, sales.years), (3, 100));
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod applied;
mod apply;
mod cursor;
mod ends;
mod fault;
mod follow;
mod follower;
mod freshness;
mod lease;
mod operations;
mod part;
mod places;
mod poison;
mod position;
mod projection;
mod quiet;
mod rebuild;
mod record;
mod recount;
mod reports;
mod sighting;
mod state_row;
mod table;
#[cfg(test)]
mod tests;
mod turns;
mod unlisted;

use table_core::Result;
use table_core::entity::{FeedEntity, PlainEntity};

pub use follow::CaughtUp;
pub use freshness::Freshness;
pub use poison::ViewPoison;
pub use position::{RebuildPosition, RebuildProgress};
pub use projection::Projection;
pub use rebuild::Rebuild;
pub use record::VIEW_PREFIX;
pub use table::{ViewState, ViewTable};

/// A materialised view: computes each source entity's rows in the view's table and its contributions to the view's sums.
#[diagnostic::on_unimplemented(
    message = "[T262] `{Self}` is not a view",
    label = "write a type that implements `View`",
    note = "a view is a type of its own: `struct Totals;` and `impl View for Totals`, with the entity type that it follows as `Source`, and that of its rows as `Row`"
)]
pub trait View: 'static {
    /// The entity type that the view is built from. It declares a feed, from which the view reads its changes.
    type Source: FeedEntity + Send + Sync;
    /// The type of the view's rows. They are stored in a separate table.
    type Row: PlainEntity + Send + Sync;

    /// The version of the projection. A program with a higher version builds its rows in a new table while the old table is in use. Once the new rows are
    /// [built](ViewTable::rebuild), followers of older versions stop. Delete the old table when no program reads it. If the first version's table has been
    /// deleted, followers more than sixteen versions older do not stop. The new table's name is the first table's name, followed by `v` and the version. If
    /// this name would be too long, a hash replaces the end of the first table's name.
    const VERSION: u32 = 1;

    /// Returns the view's name in the store. A table contains the rows of only one view: opening a second view with the same table fails. The default is the
    /// path of the type; override it to keep the name when the type moves.
    #[must_use]
    fn name() -> &'static str {
        std::any::type_name::<Self>()
    }

    /// Adds one entity's rows and contributions to sums to the view. Must be pure: the result may depend only on the entity.
    ///
    /// An entity for which this function returns an error or panics is [set aside](ViewTable::poison).
    ///
    /// # Errors
    /// Any error from [`Projection`] or this function.
    fn project(source: &Self::Source, view: &mut Projection<Self::Row>) -> Result<()>;
}
