//! Rules checked on the tokens of a declaration. The compiler checks rules about types.

mod ended;
mod generics;
mod hot;
mod index;
mod key;
mod level;
mod missing;
mod mixed;
mod part_type;
mod property;
mod serde;
mod table;
mod unsuitable;
mod wide;

use crate::ctxt::Ctxt;
use crate::model::Entity;

pub(crate) use part_type::check_inside;
pub(crate) use wide::{check as check_wide, is_wide};

/// Checks an entity declaration against every rule.
pub(crate) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    table::check(ctxt, entity);
    generics::check(ctxt, entity);
    key::check(ctxt, entity);
    level::check(ctxt, entity);
    hot::check(ctxt, entity);
    property::check(ctxt, entity);
    serde::check(ctxt, entity);
    index::check(ctxt, entity);
    mixed::check(ctxt, entity);
    part_type::check(ctxt, entity);
}
