//! Denormalisation: properties of one entity copied into others, and kept in agreement (PAT-DEN).
//!
//! # Context
//! A page shows a department with the name and e-mail address of its manager. The manager is another entity: two requests, or one and a copy.
//! The copy makes the read one point query; what it costs is that a change of the manager must reach every department she manages.
//!
//! # Key layout
//! | PartitionKey | RowKey | properties |
//! |---|---|---|
//! | `Sales` | `Department` | `DepartmentName`, `EmployeeCount`, `ManagerId`, and copied: `ManagerFirstName`, `ManagerLastName`, `ManagerEmail` |
//! | `Sales` | `000223` | the source: `FirstName`, `LastName`, `Age`, `EmailAddress` |
//! | the source's | `U+FFFC copy_{RowKey of the source} U+FFFC` and 32 hexadecimal digits | `Relation`, `HolderTable`, `HolderPartition`, `HolderRow`: one for each entity that holds copies |
//!
//! The digits are the first 128 bits of the SHA-256 of relation, table, PartitionKey and RowKey of the holder, a U+0000 behind each. So the change of
//! a source finds its copies by one range of its own partition (PAT-DEN-3), and typed reads leave these rows out, as they do the outbox's.
//!
//! A [`Denormal`] says what is copied from what into what. Both structs name it, `#[entity(copied_by(…))]` and `#[entity(copies_from(…))]`, and every
//! handle on them, [`Entities`](crate::Entities), keeps the copies, with every verb.
//!
//! # Guarantee
//! - One point query of the holder answers with the copied properties (PAT-DEN-1). Only this module sets these: a holder is
//!   written with what its source says.
//! - In one partition of one table, source and copies change in one entity group transaction, under the `ETag` of each: never one without
//!   the other (PAT-DEN-2). A holder that takes up a reference holds its source to the version that it copied.
//! - Elsewhere copies follow by the [`outbox`](crate::outbox): the intent is in the transaction of the change, and each delivery asks the
//!   source what is true now. Late, twice, in any order and beside each other, copies end as the source is, whichever process dies, and when. A holder is read before
//!   its source and written under its `ETag`, and each change of a source writes every holder, so that a slow writer never writes last: `docs/convergence.md`.
//! - A reference to an entity that is not there is refused. A source that is deleted is refused while it is referenced, or its holders are
//!   [cleared](OnDelete), as is declared.
//!
//! # Cost
//! | verb | requests |
//! |---|---|
//! | read a holder | 1 |
//! | insert of a holder, same partition | 1 get, 1 transaction of 3 operations |
//! | the same, elsewhere | 1 get and 1 transaction of 2 operations, 1 transaction of 2, 1 message; later 3 gets, 2 transactions of 1 |
//! | update of a holder that keeps its references | 1 get and 1 for each, 1 transaction of 1 |
//! | update of a holder that takes up another source | 1 get, what an insert has, and 3 gets for the reference it leaves |
//! | update of a source that changes nothing that is copied | 1 get, 1 transaction of 1 |
//! | update of a source, copies in the partition | 1 get, 1 range query, 1 get a holder, 1 transaction |
//! | copies elsewhere | the same without those gets; later 1 range query, 1 get a holder, 1 get and 1 transaction for 100 holders of one partition |
//!
//! A reference is a row of some 200 bytes beside the source.
//!
//! # Bounds
//! - One transaction takes 99 holders beside the source (EGT-2), of 4 MiB in all. Where there are more in the partition, all follow by the outbox.
//! - The `RowKey` of a source has at most 473 UTF-16 code units: its references have it in theirs.
//! - Taking up a reference writes the source (an empty merge), whose `ETag` changes; a source that thousands of new holders name at one time is a hot spot.
//! - No chains: a type that holds copies is not a source of others.
//! - Indexes and a feed that either struct declares are kept by every write, and copied properties may be in the keys of the holder's indexes.
//!   [Participants](crate::participant) of the store are asked for each holder.
//! - No program forgets a relation: one that a struct does not declare is not to be implemented, and a plain write of either type does not
//!   compile. [`settle_copies`](crate::Entities::settle_copies) mends what another tool wrote.
//!   A [unit](crate::unit) reads them when it is committed.
//! - Across partitions, "refuse" sees the references that are recorded: one that is being taken up while its source is deleted is found by
//!   the worker, which clears it.
//!
//! # When not to
//! Where the source changes more often than its holders are read: read both, in parallel. Where a holder has a list of sources: an
//! [index](crate::index), or parts [under one owner](crate::relation).
//!
//! ```
//! use table_patterns::denormal::Denormal;
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
//! impl Denormal for Manager {
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

mod admission;
mod chunk;
#[doc(hidden)]
pub mod declared;
mod end;
mod fault;
mod gives;
mod group;
mod holds;
mod io;
mod plan;
mod propagate;
mod reference;
mod relation;
mod relations;
mod relay;
mod settle;
#[cfg(test)]
mod tests;

use table_core::entity::Entity;
use table_core::selection::{Point, Selection};

use end::{Gives, Holds};
pub use reference::REFERENCE_PREFIX;
pub(crate) use relations::{Copies, keeping};

/// One relation: what is copied from a source into the holders that refer to it.
///
/// The functions are pure. A type may hold copies by several relations, and be the source of several.
#[diagnostic::on_unimplemented(
    message = "[T185] `{Self}` is not a relation",
    label = "`gives` and `holds` name types that implement `Denormal`",
    note = "a relation says which source a holder refers to and what is copied: implement `Denormal` for it"
)]
pub trait Denormal: Sized + 'static {
    /// The entity that is copied from. It declares the relation: `#[entity(copied_by(…))]`.
    type Source: Entity + Gives<Self>;
    /// The entity that holds the copies, as properties of its own. It declares the relation: `#[entity(copies_from(…))]`.
    type Holder: Entity + Holds<Self>;
    /// What is copied. A change of the source that leaves this equal touches no holder.
    type Copied: PartialEq;

    /// The name of the relation in its reference rows. Once references are written it stays.
    const NAME: &'static str;
    /// What becomes of holders when their source is deleted.
    const ON_DELETE: OnDelete = OnDelete::Refuse;

    /// The source that a holder refers to, told by its other properties.
    fn reference(holder: &Self::Holder) -> Option<Selection<Self::Source, Point>>;

    /// What a source gives to its holders.
    fn copied(source: &Self::Source) -> Self::Copied;

    /// Puts it into a holder, and changes nothing else.
    fn set(holder: &mut Self::Holder, copied: Self::Copied);

    /// Takes the reference out of a holder, and what was copied: [`reference`](Self::reference) is `None` afterwards.
    fn clear(holder: &mut Self::Holder);
}

/// What becomes of holders when their source is deleted: declared as [`Denormal::ON_DELETE`].
///
/// ```
/// use table_patterns::denormal::OnDelete;
///
/// assert_eq!(OnDelete::default(), OnDelete::Refuse);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDelete {
    /// The source is not deleted while a holder refers to it.
    #[default]
    Refuse,
    /// The source is deleted, and its holders [forget it](Denormal::clear).
    Clear,
}
