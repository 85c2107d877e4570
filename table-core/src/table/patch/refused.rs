//! Method names from other libraries that patches do not have. A call to such a method does not compile, and the error names the right method.

use crate::refused::{Refused, refused_methods};
use crate::table::patch::{Patch, PatchTarget};

/// A patch that computes or removes values. No patch implements it: the methods that require it only produce an error message.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch has no method of this name: it sets properties to values",
    label = "write `set(column, value)` with a column of `{E}`",
    note = "`set(column, None)` removes an optional property",
    note = "a value that depends on the stored one is computed by an update: `table.update({E}::key(…), |entity| …)`"
)]
pub trait Computes<E>: Refused {}

/// A patch that is sent with a method of another library. No patch implements it.
#[diagnostic::on_unimplemented(
    message = "[T210] a patch has no method of this name: `send` applies it and returns the new version",
    label = "write `send()`",
    note = "`table.patch({E}::key(…)).set(column, value).send().await?`"
)]
pub trait SendsBy<E>: Refused {}

impl<T: PatchTarget> Patch<'_, T> {
    refused_methods! {
        Computes<T::Entity>: add(_, _) increment(_, _) append(_, _) subtract(_, _) remove(_) unset(_) delete(_);
        SendsBy<T::Entity>: go() exec(_) execute() save() commit() save_changes();
    }
}
