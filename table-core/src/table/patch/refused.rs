//! Methods that updates of other libraries have but patches do not. Each reports the method to use instead at compile time.

use crate::refused::{Refused, refused_methods};
use crate::table::patch::{Patch, PatchTarget};

/// A patch that computes or removes values. No patch implements it: the methods that require it exist for their message.
#[diagnostic::on_unimplemented(
    message = "[T206] a patch has no method of this name: it sets properties to values",
    label = "write `set(Employee::AGE, 36)`",
    note = "`set(Employee::NOTE, None)` removes an optional property",
    note = "a value that depends on the stored one is computed by an update: `table.update(key, |employee| employee.age += 1)`"
)]
pub trait Computes: Refused {}

impl<T: PatchTarget> Patch<'_, T> {
    refused_methods! {
        Computes: add(_, _) increment(_, _) append(_, _) subtract(_, _) remove(_) unset(_) delete(_);
    }
}
