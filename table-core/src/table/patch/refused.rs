//! Placeholders for methods that other libraries offer on patches. Calling one is a compile error that suggests the right method.

use crate::refused::{Refused, refused_methods};
use crate::table::patch::{Patch, PatchTarget};

/// Never implemented, so a call to a method such as `increment` or `append` is a compile error. The message explains that a patch only sets properties to given
/// values.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch of `{E}` has no method of this name: it sets properties to values, without reading the stored ones",
    label = "write `table.update({E}::key(…), |entity| …)` to compute a value from the stored one",
    note = "`set({E}::…, …)` sets a property to a value that is known"
)]
pub trait Computes<E>: Refused {}

/// Never implemented, so a call to a method such as `remove` or `unset` is a compile error that suggests setting the property to `None`.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch of `{E}` has no method of this name: an optional property is set to `None`",
    label = "write `set({E}::…, None)`",
    note = "a property that is not optional cannot be removed; an entity is deleted by `table.delete({E}::key(…), etag)`"
)]
pub trait RemovesBy<E>: Refused {}

/// Never implemented, so a call to a method such as `execute` or `commit` is a compile error that suggests `send`.
#[diagnostic::on_unimplemented(
    message = "[T210] a patch has no method of this name: `send` applies it and returns the new version",
    label = "write `send()`",
    note = "`table.patch({E}::key(…)).set({E}::…, …).send().await?`"
)]
pub trait SendsBy<E>: Refused {}

impl<T: PatchTarget> Patch<'_, T> {
    refused_methods! {
        Computes<T::Entity>: add(_, _) increment(_, _) append(_, _) subtract(_, _);
        RemovesBy<T::Entity>: remove(_) unset(_) delete(_);
        SendsBy<T::Entity>: go() exec(_) execute() save() commit() save_changes();
    }
}
