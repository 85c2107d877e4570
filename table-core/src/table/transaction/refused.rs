//! Method names of other libraries that transactions do not have. Using one is a compile error that names the method to use instead.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::EntityTransaction;

/// A transaction that a method of another library commits. No transaction implements this trait: methods that require it exist only for their error message.
#[diagnostic::on_unimplemented(
    message = "[T211] a transaction has no method of this name: `commit` applies its operations, and dropping it discards them",
    label = "write `commit()`",
    note = "nothing is sent before `commit().await`, so there is nothing to roll back: `drop(transaction)` discards the operations"
)]
pub trait EndsBy<E>: Refused {}

impl<E, S> EntityTransaction<E, S> {
    refused_methods! {
        EndsBy<E>: save_changes();
    }
}

impl<E, S> EntityTransaction<E, S>
where
    Self: EndsBy<E>,
{
    refused_by_name! { rollback abort cancel submit execute exec go send submit_transaction }
}
