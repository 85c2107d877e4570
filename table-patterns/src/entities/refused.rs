//! Method names from other libraries. Calling such a method is a compile error, whose message suggests the method to use instead.

use crate::entities::Entities;

impl<E, S, O> Entities<E, S, O> {
    table_core::__refused_verbs! { BeginsUnit }
}
