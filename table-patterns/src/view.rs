//! Materialised views: a read model kept from a change feed, with sums that count each entity once (IMP-6).
//!
//! # Context
//! How many employees has each department, where does one fly from an airport, and how often? Asked of the rows it is a scan for each
//! question. A view is another table, laid out for the question, which follows the rows: the reading side of CQRS.
//!
//! # Key layout
//! In the table of the view's rows:
//!
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | as its row type says | as it says | the row: put by one source entity, or sums that many add to |
//! | a partition of the view | `U+FFFC view_by_` and 32 hexadecimal digits | `Source`, `Rows`, `Sums`: JSON; what one source entity has in this partition |
//! | a partition of the source | `U+FFFC view_of_` and the RowKey of the source entity | `Places`: JSON; the partitions of the view that it has ever had something in |
//! | a partition of the source | `U+FFFC view_cursor` | `Cursor`: JSON; how far the partition's feed is applied |
//! | a partition of the source | `U+FFFC view_sighting` | `Lease`, `First`: the lease of another follower that was seen last, and the instant of its first sighting |
//! | `view` | `U+FFFC view_state` | `Ready`: Boolean; `Id`: Guid, which view it is of those that were made in this place |
//!
//! The digits are the first 128 bits of the SHA-256 of PartitionKey and RowKey of the source, a U+0000 behind each. Typed reads leave these rows out.
//!
//! A [`View`] says, by a pure function, what one source entity has in the view; a [`ViewTable`] keeps that so. The feed says *which* entities changed, the
//! entity itself says what is true now.
//!
//! # Guarantee
//! - In each partition of the view, what an entity has there, the sums included, changes in one transaction with the record of it. An entity
//!   counts once, whatever is delivered twice: what is added is the difference to what the record says.
//! - Once the feeds are applied, the view is what the projection of the source's rows is. Changes may come late, twice, in any order, to several
//!   processes at one time, and any of them may die at any request: records are read before the entity, and written, also where nothing changes, under their
//!   `ETag`s. So a slow worker never writes last. What an entity no longer has leaves an empty record, for the same reason.
//! - A partition's changes are applied in order, each at least once; the [cursor](crate::feed::Cursor) is moved after them, and never back. Between partitions there is no
//!   order, and no isolation: a reader can see an entity in one partition of the view and not yet in another (PAT-EC-6).
//! - A new view is [building](ViewState::Building), and does not answer, until it is [built](ViewTable::rebuild). A rebuild is the same work done for each row,
//!   beside live writers and readers, resumable; what the feeds brought before it began is not applied again. It mends what a trimmed feed, another projection or another tool left wrong, sums included: a row that no entity
//!   explains ends with 0 in its sums.
//! - Continuations of reads hold keys, and go on behind them after a rebuild. A view whose table was deleted and made anew is building again: handles
//!   that knew it as ready ask every ten seconds and then refuse with `IndexNotReady`, and a stored position of an earlier rebuild is refused.
//!
//! # Cost
//! | verb | requests |
//! |---|---|
//! | read | 1, as any table |
//! | write of the source, declared with `#[entity(feed)]` | 1 operation more |
//! | [catching up](ViewTable::catch_up) | 1 range query of the registry; 1 get, 1 range query and 1 write a partition; then an entity that changed: 2 gets, and 1 get for each partition of the view |
//! | and for all that changed together | for each partition of the view 1 get a sum that changes, and 1 transaction for as many entities as fit in 100 operations: one an entity, one a row it puts, one a sum |
//! | an entity's first time in a partition of the view | 1 get for each partition, 2 gets more, and 1 transaction for 100 such entities of a partition |
//! | rebuild | 2 range queries for 256 rows of the source that lie side by side, and 1 get for each partition of the view that one of them was in before; records, sums and transactions as above; 1 scan of each table, and each partition of the view read once more; 2 range queries, 1 get and 1 write a partition with a feed |
//!
//! # Bounds
//! - What one entity has in one partition of the view is one transaction: 98 rows and sums. All partitions it ever had something in stand in 32 Ki characters.
//! - A rebuild holds the sums of one partition of the view in memory, and 256 entities with their records; so does catching up.
//! - A sum is an `Int64`; one that does not fit is an error, and nothing is changed. All changes of one sum write one row: about as many changes a second
//!   as one partition takes.
//! - A row that is put belongs to one source entity: its key has that entity's in it. A row is put or summed, not both.
//! - The `RowKey` of a source entity has at most 503 UTF-16 code units.
//! - The records of entities that are gone stay, empty. To be rid of them delete the table, make the view anew and rebuild it.
//! - Feeds are not trimmed by a view: [trim](crate::feed::Feed::trim) up to the [position](ViewTable::position) of the slowest one.
//! - The table belongs to the view. Its design is one row type; the source's entities are found by the literal that their `RowKey` begins with from
//!   others of their table.
//!
//! # When not to
//! For another key of the same entity: an [index](crate::index). For properties of one entity in another: [`denormal`](crate::denormal). Where the sum may be
//! counted at leisure: read the partition.
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
//! /// Employees a department, and their ages together.
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
//! let sales = view.rows().await?.get(Headcount::key("Sales")).await?.expect("three work there");
//! assert_eq!((sales.employees, sales.years), (3, 100));
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod applied;
mod apply;
mod ends;
mod fault;
mod follow;
mod following;
mod operations;
mod part;
mod poison;
mod projection;
mod rebuild;
mod record;
mod recount;
mod sighting;
mod standing;
mod table;
#[cfg(test)]
mod tests;

use table_core::entity::{Entity, PlainEntity};
use table_core::error::Result;

pub use follow::{CaughtUp, Freshness};
pub use poison::ViewPoison;
pub use projection::Projection;
pub use rebuild::{Rebuild, RebuildPosition, RebuildProgress};
pub use record::VIEW_PREFIX;
pub use table::{ViewState, ViewTable};

/// What each entity of a table has in a view of it.
pub trait View: 'static {
    /// The entity that the view is made from.
    type Source: Entity + Send + Sync;
    /// The rows of the view, in a table of their own.
    type Row: PlainEntity + Send + Sync;

    /// Version of the projection. A program with a higher version builds its rows in another table, beside the old ones. Once they are
    /// [built](ViewTable::rebuild), followers of older versions stop; delete the old table when no program reads it.
    const VERSION: u32 = 1;

    /// Returns the name of the view in the store. Rows belong to one view: another with the same table is refused when it is opened. The default is the
    /// path of the type; override it to keep the name when the type moves.
    #[must_use]
    fn name() -> &'static str {
        std::any::type_name::<Self>()
    }

    /// What one entity has in the view, and nothing of what it had before. Pure: of the entity alone, the same each time.
    ///
    /// # Errors
    /// Those of [`Projection`], and the view's own; the change is then tried again with the next call.
    fn project(source: &Self::Source, view: &mut Projection<Self::Row>) -> Result<()>;
}
