//! The relations that structs declare, as the derive generates them. Not an API: public because macros expand in other crates.

use table_core::__private::is_same_text;
use table_core::entity::{AnyRelations, Entity};

pub use crate::copies::relation::{Incoming, Outgoing};
pub use crate::copies::side::{Gives, Holds, Is};

/// All relations that the struct of an entity declares.
#[derive(Debug)]
pub struct Declared<E: 'static> {
    pub(super) gives: &'static [Outgoing<E>],
    pub(super) holds: &'static [Incoming<E>],
}

impl<E: Entity> Declared<E> {
    /// Creates the list of relations.
    ///
    /// # Panics
    /// Panics at compile time if two relations on the same side have the same name (T184).
    #[must_use]
    pub const fn new(gives: &'static [Outgoing<E>], holds: &'static [Incoming<E>]) -> Self {
        let (mut at, mut other) = (0, 0);
        while at < gives.len() || at < holds.len() {
            while other < at {
                let is_given =
                    at < gives.len() && is_same_text(gives[at].relation.name, gives[other].relation.name);
                let is_held =
                    at < holds.len() && is_same_text(holds[at].relation.name, holds[other].relation.name);
                assert!(
                    !is_given && !is_held,
                    "[T184] two relations of this entity have one `NAME`: their references could not be told apart"
                );
                other += 1;
            }
            (at, other) = (at + 1, 0);
        }
        Self { gives, holds }
    }

    /// Returns the relations that an entity declares.
    pub(super) fn find() -> Option<&'static Self> {
        let relations: &'static AnyRelations = E::RELATIONS?;
        relations.downcast_ref()
    }
}
