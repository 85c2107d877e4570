//! Method names from other libraries. Calling such a method is a compile error, whose message suggests the method to use instead.

use table_core::__private::Refused;

use crate::entities::Entities;

#[doc(hidden)]
impl<E, S, O> Refused for Entities<E, S, O> {
    fn refuse<R>(&self) -> R {
        std::process::abort() // no call compiles
    }
}

impl<E, S, O> Entities<E, S, O> {
    table_core::__refused_verbs! { BeginsUnit }
}

table_core::__refused_verbs_of_any_arity! { [E, S, O] Entities<E, S, O> }
