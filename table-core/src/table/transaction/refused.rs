//! Method names from other libraries that transactions do not have. A call to such a method does not compile, and the error names the right method.

use crate::refused::{Refused, refused_by_name, refused_methods};
use crate::table::EntityTransaction;

/// A transaction that is committed with a method of another library. No transaction implements this trait, so the methods that require it only produce an
/// error message.
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
