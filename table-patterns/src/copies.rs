//! Denormalisation: properties of one entity are copied into other entities and kept consistent (PAT-DEN).
//!
//! # Context
//! A page shows a department with the name and e-mail address of its manager, which is another entity. Reading both entities takes two requests. If the
//! department contains a copy of the name and address, one request is enough. In exchange, a change to the manager must reach every department she manages.
//!
//! # Key layout
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | `Sales` | `Department` | `DepartmentName`, `EmployeeCount`, `ManagerId`, and copied: `ManagerFirstName`, `ManagerLastName`, `ManagerEmail` |
//! | `Sales` | `000223` | the source: `FirstName`, `LastName`, `Age`, `EmailAddress` |
//! | the source's partition | `U+FFFC copy_{RowKey of the source} U+FFFC` and 32 hexadecimal digits | `Relation`, `HolderTable`, `HolderPartition`, `HolderRow`: one row for each entity that holds copies |
//!
//! The digits are the first 128 bits of the SHA-256 of the relation's name, and of the table, PartitionKey and RowKey of the holder (the entity that holds
//! copies), each followed by U+0000. These rows are the *references*. When the source (the copied entity) changes, one range query in its partition finds the
//! holders of its copies (PAT-DEN-3). Typed reads skip these rows, like outbox rows.
//!
//! A [`CopyRelation`] declares the source, the holder and the copied properties. Both structs declare it, with `#[entity(copied_by(…))]` and
//! `#[entity(copies_from(…))]`. All writes through their handles, [`Entities`](crate::Entities), then maintain the copies.
//!
//! # Guarantee
//! - One point query for the holder returns the copied properties (PAT-DEN-1). Only this module sets these properties; a write to a holder reads their values
//!   from the source.
//! - Within one partition of one table, source and copies change in one entity group transaction, each conditional on its `ETag`. Neither changes without the
//!   other (PAT-DEN-2), within the bounds below. A write that adds a reference succeeds only if the source still has the copied version.
//! - In other partitions and tables, the [`outbox`](crate::outbox) updates the copies. The intent is recorded in the same transaction as the change, and each
//!   delivery reads the current source. Copies converge to the source, even if deliveries are late, repeated, reordered or concurrent, and even if processes
//!   die. A holder is read before its source, and written only if its `ETag` is still current. Each change to a source writes every holder, so a slow writer's
//!   stale write always fails; see `docs/convergence.md`.
//! - A reference to a missing entity is refused. Depending on the declaration, deleting a referenced source is refused, or its holders are [cleared](OnDelete).
//!
//! # Cost
//! | verb | requests |
//! |---|---|
//! | read a holder | 1 |
//! | insert a holder, same partition | 1 get, 1 transaction of 3 operations |
//! | insert a holder, other partition | 1 get and 1 transaction of 2 operations, 1 transaction of 2, 1 message; later 3 gets, 2 transactions of 1 |
//! | update a holder, references unchanged | 1 get and 1 get per reference, 1 transaction of 1 operation |
//! | update a holder to refer to another source | 1 get, the requests of an insert, and 3 gets for the old reference |
//! | update a source, copied properties unchanged | 1 get, 1 transaction of 1 operation |
//! | update a source, copies in the same partition | 1 get, 1 range query, 1 get per holder, 1 transaction |
//! | update a source, copies in other partitions | 1 get, 1 range query, 1 transaction; later 1 range query, 1 get per holder, and 1 get and 1 transaction per 100 holders of one partition, or per 97 if they have a feed |
//! | delete a source, copies in other partitions | the requests of an update; later also 1 transaction per 100 references |
//! | backfill of a source's copies | the later requests of an update, once for each source with references |
//!
//! A reference is a row of about 200 bytes in the source's partition.
//!
//! # Bounds
//! - One transaction contains the source and at most 99 holders (EGT-2), with a total size of 4 MiB. In three cases, the outbox updates all holders instead: if
//!   the source has more holders in its partition; if it has more than 100 references (from any partition) that fill more than one query page; and if
//!   participants with different names write the same row for two of these entities.
//! - The `RowKey` of a source has at most 473 UTF-16 code units, because the `RowKey`s of its references contain it.
//! - Adding a reference also writes the source (with an empty merge), which changes the source's `ETag`. A source referenced by thousands of new holders at the
//!   same time is a hot spot.
//! - A copied property may be copied again, in a chain of any length. A worker updates the second copy and all further copies, in any partition. If entities
//!   copy from each other in a cycle, their values must converge. Otherwise, a change that returns to the same entity for the eighth time becomes poison, and
//!   the error lists the entities. In a cycle of more than seven entities, this may happen only after 24 rounds, or after 3m visits if m entities precede the
//!   cycle.
//! - Every write maintains the indexes and the feed declared by either struct for its table. The holder's index keys may contain copied properties. The store's
//!   [participants](crate::participant) are called for each holder.
//! - Copies declared by a later release are first *announced*: programs built from the older release continue to write without them until the
//!   [backfills](crate::Entities::backfill_copies) of the sources and of the holders begin. Each backfill adds the copies omitted by older programs.
//! - No program can bypass a relation: it can be implemented only if both structs declare it, and a plain write of either type does not compile.
//!   [`settle_copies`](crate::Entities::settle_copies) repairs entities written by another tool. A [unit of work](crate::unit) reads sources and holders when
//!   it is committed.
//! - Across partitions, [`OnDelete::Refuse`] considers only references already recorded. If a reference is added while its source is deleted, the worker clears
//!   it later.
//!
//! # When not to
//! If the source changes more often than its holders are read, read both in parallel instead. If an entity refers to a list of others, use an
//! [index](crate::index), or child entities [under one parent](crate::relation).
//!
//! ```
//! use table_patterns::copies::CopyRelation;
//! use table_patterns::outbox::Outbox;
//! use table_patterns::selection::Point;
//! use table_patterns::work::Worker;
//! use table_patterns::{Engine, Entities, Entity, QueueName, Selection};
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Company", copied_by(Manager))]
//! #[partition_key(department)]
//! #[row_key("empid_", id)]
//! struct Employee { department: String, #[digits(6)] id: u32, last_name: String }
//!
//! #[derive(Entity, Clone, Debug, PartialEq)]
//! #[entity(table = "Departments", copies_from(Manager))]
//! #[partition_key(name)]
//! #[row_key("Department")]
//! struct Department { name: String, manager_id: Option<i32>, manager_last_name: Option<String> }
//!
//! /// Departments hold the last names of their managers, who are employees of the department.
//! struct Manager;
//!
//! impl CopyRelation for Manager {
//!     type Source = Employee;
//!     type Holder = Department;
//!     type Copied = String;
//!     const NAME: &'static str = "manager";
//!
//!     fn reference(department: &Department) -> Option<Selection<Employee, Point>> {
//!         let id = u32::try_from(department.manager_id?).ok()?;
//!         Some(Employee::key(&department.name, id))
//!     }
//!     fn copied(manager: &Employee) -> String {
//!         manager.last_name.clone()
//!     }
//!     fn set(department: &mut Department, last_name: String) {
//!         department.manager_last_name = Some(last_name);
//!     }
//!     fn clear(department: &mut Department) {
//!         (department.manager_id, department.manager_last_name) = (None, None);
//!     }
//! }
//!
//! # pollster::block_on(async {
//! let store = Engine::in_memory();
//! let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("copies")?);
//! outbox.create_queues().await?;
//! let employees = Entities::<Employee, _, _>::from(outbox.clone()).create_if_missing().await?;
//! let departments = Entities::<Department, _, _>::from(outbox.clone()).create_if_missing().await?;
//!
//! employees.insert(&Employee { department: "Sales".into(), id: 223, last_name: "Byron".into() }).await?;
//! let sales = Department { name: "Sales".into(), manager_id: Some(223), manager_last_name: None };
//! departments.insert(&sales).await?;
//! let sales = departments.get(Department::key("Sales")).await?.expect("inserted above");
//! assert_eq!(sales.manager_last_name.as_deref(), Some("Byron"));
//!
//! employees.patch(Employee::key("Sales", 223)).set(Employee::LAST_NAME, "Lovelace").send().await?;
//! Worker::new(outbox).with_index_handler(&employees).with_index_handler(&departments).run_until_idle().await?;
//! let sales = departments.get(Department::key("Sales")).await?.expect("inserted above");
//! assert_eq!(sales.manager_last_name.as_deref(), Some("Lovelace"));
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod backfill;
mod chain;
mod chunk;
mod completed;
#[doc(hidden)]
pub mod declared;
mod fault;
mod group;
mod holder;
mod io;
mod plan;
mod propagate;
mod reference;
mod relation;
mod relations;
mod relay;
mod report;
mod settle;
mod side;
mod source;
#[cfg(test)]
pub(crate) mod tests;

use table_core::entity::Entity;
use table_core::selection::{Point, Selection};

pub use backfill::CopiesBackfill;
pub use reference::REFERENCE_PREFIX;
pub(crate) use reference::source_in;
pub(crate) use relations::{Copies, SettleCopies, keeping};
pub use report::CopiesReport;
use side::{Gives, Holds};

/// A relation between two entity types. Entities of one type (*holders*) refer to an entity of the other type (their *source*) and store copies of some of
/// its properties.
///
/// The functions must be pure. A type may be the holder in several relations and the source in several others.
#[diagnostic::on_unimplemented(
    message = "[T185] `{Self}` is not a relation",
    label = "`copied_by` and `copies_from` name types that implement `CopyRelation`",
    note = "a relation says which source a holder refers to and what is copied: implement `CopyRelation` for it"
)]
pub trait CopyRelation: Sized + 'static {
    /// The copied entity. Declares the relation with `#[entity(copied_by(…))]`.
    type Source: Entity + Gives<Self>;
    /// The entity that contains the copies. Declares the relation with `#[entity(copies_from(…))]`.
    type Holder: Entity + Holds<Self>;
    /// The copied values. A change to the source that leaves them unchanged writes no holder.
    type Copied: PartialEq;

    /// The name of the relation in the stored reference rows. It must not change after references have been written.
    const NAME: &'static str;
    /// The effect on holders when their source is deleted.
    const ON_DELETE: OnDelete = OnDelete::Refuse;

    /// Returns the source referenced by a holder, computed from the holder's other properties.
    fn reference(holder: &Self::Holder) -> Option<Selection<Self::Source, Point>>;

    /// Returns the values to copy from a source.
    fn copied(source: &Self::Source) -> Self::Copied;

    /// Sets the copied values in a holder, and changes nothing else.
    fn set(holder: &mut Self::Holder, copied: Self::Copied);

    /// Removes the reference and the copied values from a holder. [`reference`](Self::reference) must return `None` afterwards.
    fn clear(holder: &mut Self::Holder);
}

/// The effect on holders when their source is deleted. Declared as [`CopyRelation::ON_DELETE`].
///
/// ```
/// use table_patterns::copies::OnDelete;
///
/// assert_eq!(OnDelete::default(), OnDelete::Refuse);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDelete {
    /// The source cannot be deleted while a holder refers to it.
    #[default]
    Refuse,
    /// The source is deleted, and its holders are [cleared](CopyRelation::clear).
    Clear,
}
