//! Method names from other libraries. Calling such a method is a compile error, whose message suggests the method to use instead.

use table_core::__private::{
    Change, Changes, Filters, Find, Finds, ReadAll, ReadsAll, Refused, Remove, Removes, SelectAll, ShowsVerb,
};

use crate::entities::Entities;

#[doc(hidden)]
impl<E, S, O> Refused for Entities<E, S, O> {
    fn refuse<R>(&self) -> R {
        std::process::abort() // no call compiles
    }
}

#[doc(hidden)]
impl<E: ShowsVerb<Find>, S, O> Finds<E> for Entities<E, S, O> {}
#[doc(hidden)]
impl<E: ShowsVerb<Change>, S, O> Changes<E> for Entities<E, S, O> {}
#[doc(hidden)]
impl<E: ShowsVerb<Remove>, S, O> Removes<E> for Entities<E, S, O> {}
#[doc(hidden)]
impl<E: ShowsVerb<ReadAll>, S, O> ReadsAll<E> for Entities<E, S, O> {}
#[doc(hidden)]
impl<E: ShowsVerb<SelectAll>, S, O> Filters<E> for Entities<E, S, O> {}

impl<E, S, O> Entities<E, S, O> {
    table_core::__refused_verbs! { BeginsUnit }
}
