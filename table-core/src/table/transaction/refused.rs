//! Placeholders for methods that other libraries offer on transactions. Calling one is a compile error that suggests the right method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::EntityTransaction;

/// Never implemented, so a call to a method such as `submit` or `rollback` is a compile error. The message explains that `commit` applies the operations, and
/// that dropping the transaction discards them.
#[diagnostic::on_unimplemented(
    message = "[T211] a transaction has no method of this name: `commit` applies its operations, and dropping it discards them",
    label = "write `commit()`",
    note = "nothing is sent before `commit().await`, so there is nothing to roll back: `drop(transaction)` discards the operations"
)]
pub trait EndsBy<E>: Refused {}

/// Never implemented, so a call to a method such as `get` or `query` is a compile error. The message explains that a transaction does not read.
#[diagnostic::on_unimplemented(
    message = "[T231] a transaction on a table has no method of this name: it writes, and does not read",
    label = "read with the table, before the transaction",
    note = "`replace(&changed, found.etag())` in the transaction fails if the entity has changed since `table.get({E}::key(…))` read it",
    note = "`transaction` of `table_patterns::Entities` runs a function that reads and writes, and repeats it after a conflict"
)]
pub trait Reads<E>: Refused {}

/// Never implemented, so a call to a method such as `update` or `upsert` is a compile error that suggests the transaction's write methods.
#[diagnostic::on_unimplemented(
    message = "[T232] a transaction has no method of this name: each write says what happens if the entity exists",
    label = "write `insert`, `insert_or_replace`, `insert_or_merge`, `replace`, `merge` or `delete`",
    note = "`insert(&entity)` fails if the entity exists; `replace(&entity, &etag)` and `delete({E}::key(…), &etag)` fail if its version differs",
    note = "a change is a `replace` of the entity that was read before the transaction"
)]
pub trait WritesBy<E>: Refused {}

impl<E, S> EntityTransaction<E, S> {
    refused_methods! {
        EndsBy<E>: save_changes() rollback() go() send();
        Reads<E>: query(_) scan(_);
        WritesBy<E>: add(_) put_item(_) insert_one(_) update(_, _) upsert(_) save(_) put(_) patch(_) create(_) insert_many(_) upsert_entity(_);
    }
}

impl<E, S> EntityTransaction<E, S>
where
    Self: Reads<E>,
{
    refused_by_name! { get get_as get_many exists read load fetch get_entity find_one select fetch_one load_all get_one check require condition_check }
}

impl<E, S> EntityTransaction<E, S>
where
    Self: WritesBy<E>,
{
    refused_by_name! {
        add_entity update_entity create_entity insert_entity delete_entity remove set push insert_all upsert_merge upsert_replace update_item create_item
        delete_item add_all update_one delete_one replace_one upsert_one modify change insert_or_update write write_all touch bulk
    }
}

impl<E, S> EntityTransaction<E, S>
where
    Self: EndsBy<E>,
{
    refused_by_name! { abort cancel submit execute exec submit_transaction complete end send_all commit_async rollback_async finish done run discard flush }
}
