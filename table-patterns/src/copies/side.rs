//! The two sides of a relation: the source (the copied entity) and the holder (the entity with the copies). Both structs must declare the relation.

/// An entity that is the source of a relation, as declared by `#[entity(copied_by(…))]`. Implemented only by `#[derive(Entity)]`.
#[diagnostic::on_unimplemented(
    message = "[T182] `{Self}` does not declare `copied_by({D})`",
    label = "the `Source` of this relation",
    note = "name the relation in the source's `#[entity(copied_by({D}))]`, so every handle on the source maintains the copies"
)]
pub trait Gives<D> {}

/// An entity that holds the copies of a relation, as declared by `#[entity(copies_from(…))]`. Implemented only by `#[derive(Entity)]`.
#[diagnostic::on_unimplemented(
    message = "[T182] `{Self}` does not declare `copies_from({D})`",
    label = "the `Holder` of this relation",
    note = "name the relation in the holder's `#[entity(copies_from({D}))]`, so every handle on the holder maintains the copies"
)]
pub trait Holds<D> {}

/// Type equality with `E`. As a bound, it ensures that an entity can declare only relations in which it plays the declared role.
#[diagnostic::on_unimplemented(
    message = "[T183] this relation has `{Self}` at this end, not `{E}`",
    label = "`{E}` declares it",
    note = "`copied_by` names relations whose `Source` is the entity, `copies_from` relations whose `Holder` it is"
)]
pub trait Is<E> {
    /// Returns a reference to the entity as `Self`.
    fn of(entity: &E) -> &Self;

    /// Returns a mutable reference to the entity as `Self`.
    fn of_mut(entity: &mut E) -> &mut Self;
}

impl<E> Is<E> for E {
    fn of(entity: &E) -> &Self {
        entity
    }

    fn of_mut(entity: &mut E) -> &mut Self {
        entity
    }
}
