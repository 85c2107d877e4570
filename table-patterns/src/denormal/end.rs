//! The ends of a relation: each is an entity that declares it.

/// The entity that a relation copies from declares so: `#[entity(copied_by(…))]`. Only `#[derive(Entity)]` implements it.
#[diagnostic::on_unimplemented(
    message = "[T182] `{Self}` does not declare that it gives copies by `{D}`",
    label = "the `Source` of this relation",
    note = "every handle on the source keeps the copies: name the relation in the source's `#[entity(copied_by({D}))]`"
)]
pub trait Gives<D> {}

/// The entity that holds copies by a relation declares so: `#[entity(copies_from(…))]`. Only `#[derive(Entity)]` implements it.
#[diagnostic::on_unimplemented(
    message = "[T182] `{Self}` does not declare that it holds copies by `{D}`",
    label = "the `Holder` of this relation",
    note = "every handle on the holder keeps the copies: name the relation in the holder's `#[entity(copies_from({D}))]`"
)]
pub trait Holds<D> {}

/// That the end of a relation is the entity that declares it.
#[diagnostic::on_unimplemented(
    message = "[T183] this relation has `{Self}` at this end, not `{E}`",
    label = "`{E}` declares it",
    note = "`gives` names the relations whose `Source` is the entity, `holds` those whose `Holder` it is"
)]
pub trait Is<E> {
    /// Itself.
    fn of(entity: &E) -> &Self;

    /// Itself, to be changed.
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
