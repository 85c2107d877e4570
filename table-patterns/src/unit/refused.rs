//! Method names from tables and other libraries that units do not have. Calling one is a compile error whose message suggests the method to use instead.

use table_core::__private::Refused;
use table_core::{__refused_by_name, __refused_methods};

use crate::unit::UnitOfWork;

/// The bound on methods that would read several entities. No unit satisfies it, so calling one is a compile error with this message.
#[diagnostic::on_unimplemented(
    message = "[T237] a unit has no method of this name: it reads one entity by its key",
    label = "write `get(Employee::key(…))`",
    note = "several entities are read by the handle, before the unit: `employees.query(…).collect().await?`",
    note = "`unit.unchanged(&found)` adds the condition that an entity has not changed since it was read"
)]
pub trait ReadsSeveral: Refused {}

/// Never implemented, so a call to a write method known from another library is a compile error with this message.
#[diagnostic::on_unimplemented(
    message = "[T239] a unit has no method of this name: each write says what it knows of the stored entity",
    label = "write `insert(&entity)`, `update(&found, |entity| …)`, `save(found, &entity)` or `delete(&found)`",
    note = "`save(found.as_ref(), &entity)` inserts the entity if `found` is `None`, and otherwise replaces it",
    note = "`let found = unit.get(Employee::key(…)).await?` reads the entity, with its version"
)]
pub trait WritesBy: Refused {}

/// Never implemented, so a call to a commit method known from another library is a compile error with this message.
#[diagnostic::on_unimplemented(
    message = "[T239] a unit has no method of this name: `commit` applies its writes",
    label = "write `commit()`",
    note = "nothing is written before `commit().await`; `drop(unit)` discards the writes"
)]
pub trait EndsBy: Refused {}

/// Never implemented, so a call to a rollback method known from another library is a compile error with this message.
#[diagnostic::on_unimplemented(
    message = "[T239] a unit has no method of this name: it is discarded when it is dropped",
    label = "write `drop(unit)`",
    note = "nothing is written before `commit().await`, so there is nothing to roll back"
)]
pub trait DiscardsBy: Refused {}

impl<S, O> UnitOfWork<S, O> {
    __refused_methods! {
        ReadsSeveral: query(_) scan(_) exists(_);
        WritesBy: add(_) upsert(_) put(_) patch(_) create(_) insert_many(_) insert_into(_);
        EndsBy: save_changes();
        DiscardsBy: rollback();
    }
}

impl<S, O> UnitOfWork<S, O>
where
    Self: EndsBy,
{
    __refused_by_name! { execute submit finish complete end save_changes_async commit_async exec send run done flush }
}

impl<S, O> UnitOfWork<S, O>
where
    Self: DiscardsBy,
{
    __refused_by_name! { abort cancel rollback_async discard }
}

impl<S, O> UnitOfWork<S, O>
where
    Self: ReadsSeveral,
{
    __refused_by_name! { get_many get_by_index read load fetch find_one get_one get_entity find_by_key first get_all select get_eventual }
}

impl<S, O> UnitOfWork<S, O>
where
    Self: WritesBy,
{
    __refused_by_name! {
        insert_or_replace insert_or_merge merge remove insert_all put_all bulk add_entity update_entity delete_entity replace_entity modify delete_one create_one
        insert_or_update add_all write_all delete_item update_item update_one delete_by_key
    }
}
