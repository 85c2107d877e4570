//! Methods of other libraries that handles do not have. Each reports the right one at compile time.

use crate::entities::Entities;

impl<E, S, O> Entities<E, S, O> {
    table_core::__refused_verbs! {}
}
