//! Placeholders for methods that other libraries offer on entities and stores. Calling one is a compile error that suggests the right method.

use crate::refused::Refused;
use crate::store::TableStore;

/// A store that opens tables. Implemented for every [`TableStore`] that is `Clone`.
///
/// The two requirements are combined into one bound, because rustc shows a bound's message for a missing method only if no other bound is unsatisfied.
#[diagnostic::on_unimplemented(
    message = "[T214] `{Self}` has no method of this name, and it is not a store",
    label = "for an entity, write it as a method of its table: `store.table::<…>()`; write `?` after a `Result`, `.await` after a future",
    note = "an entity `Employee` is read and written by its table: `table.insert(&employee)`, `table.update(Employee::key(…), |employee| …)`, \
            `table.delete(Employee::key(…), etag)`, `table.get(Employee::key(…))`, `table.query(Employee::partition(…)).collect()`",
    note = "a transaction is the value of a `Result`: `let mut transaction = table.transaction(Employee::partition(…))?;`; the result of a future is used \
            after `.await`",
    note = "the rows of a view are those of its table: `view.table().await?.get(…)`",
    note = "a store is `Clone` and implements `TableStore`, such as `Engine`"
)]
pub trait OpensTables: TableStore + Clone {}

#[diagnostic::do_not_recommend]
impl<S: TableStore + Clone> OpensTables for S {}

/// Never implemented, so a call to a method such as `insert` or `query` is a compile error that suggests calling the method on a table handle.
#[diagnostic::on_unimplemented(
    message = "[T215] a store has no method of this name: entities are read and written through their table",
    label = "write `table::<…>()` first, with the type of the entity",
    note = "for an entity `Employee`: `let table = store.table::<Employee>();`, then `table.insert(&employee)`, `table.get(Employee::key(…))`"
)]
pub trait HasEntities: Refused {}

/// Never implemented, so a call to a method such as `create_table` or `open_table` is a compile error that suggests opening the table by its entity type.
#[diagnostic::on_unimplemented(
    message = "[T215] a store has no method of this name: a table is opened by the type of its entities",
    label = "write `table::<…>()`, with the type of the entity",
    note = "the entity names its table, `#[entity(table = \"Company\")]`: `let table = store.table::<Employee>().create_if_missing().await?;`",
    note = "`store.table_named::<Employee>(\"Staff\")?` opens a table of another name, and `store.untyped(\"Company\")?` a table of entities without a type",
    note = "`use table_patterns::EntityStore;` and `store.entities::<Employee>()` open a table whose entities declare indexes, copies or a feed"
)]
pub trait HasTables: Refused {}

/// Never implemented, so a call to a method such as `begin_transaction` is a compile error that suggests a transaction on one partition of a table.
#[diagnostic::on_unimplemented(
    message = "[T202] a store has no method of this name: a transaction is on one partition of a table",
    label = "write `table::<…>()` first, with the type of the entity, and then `transaction(…::partition(…))?`",
    note = "for an entity `Employee`: `let mut transaction = store.table::<Employee>().transaction(Employee::partition(…))?;`, then `commit().await?`",
    note = "`store.entities::<Employee>().transaction(Employee::partition(…), async |unit| …)` runs a function that reads and writes"
)]
pub trait HasTransactions: Refused {}

/// Never implemented, so a call to a method such as `save_changes` is a compile error. The message explains that a store collects no changes.
#[diagnostic::on_unimplemented(
    message = "[T215] a store has no method of this name: it collects no changes, because each write is applied when it is awaited",
    label = "remove this call, and write `.await?` after each write: `table.insert(&employee).await?`",
    note = "several writes of one partition are applied together by a transaction: `let mut transaction = store.table::<Employee>()\
            .transaction(Employee::partition(…))?;`, then `transaction.insert(&employee)?;` and `transaction.commit().await?`"
)]
pub trait KeepsChanges: Refused {}

/// Never implemented, so a call to `query_as` is a compile error that suggests a query of a table.
#[diagnostic::on_unimplemented(
    message = "[T215] a store has no statements in SQL: a query names the keys of a type to read, and filters its properties",
    label = "write `table::<{R}>().query({R}::partition(…)).filter({R}::….gt(…)).collect()`",
    note = "`table::<{R}>().scan(\"the reason\").max_rows(n).filter(…).collect()` reads the whole table"
)]
pub trait RunsSql<R>: Refused {
    /// The rows that the statement would return.
    type Rows;
}
