//! Methods of other libraries that handles do not have. Each reports the right one at compile time.

use crate::entities::Entities;

table_core::__refused_verbs!([E, S, O] Entities<E, S, O>);
