//! Copies decoded as the whole entity, or as a projection of what they keep.

use crate::entity::FromEntity;
use crate::error::Result;
use crate::index::Index;
use crate::query::EntityRef;
use crate::row::RowWriter;

/// An index of copies (PAT-INTRA, PAT-INTER): what is found there can be read at once. Only `#[derive(Entity)]` implements it.
#[diagnostic::on_unimplemented(
    message = "[T072] `{Self}` is no index of copies",
    label = "a list holds keys: read it, then the entities it names (PAT-IX-3)"
)]
pub trait CopyIndex: Index {
    /// The properties that are not stored in a copy because its key says them.
    const GIVEN: &'static [&'static str] = &[];

    /// Appends the properties that the key of a copy says.
    ///
    /// # Errors
    /// `EntityMismatch` if it is the key of no copy.
    fn write_given(_copy: EntityRef<'_>, _row: &mut RowWriter) -> Result<()> {
        Ok(())
    }
}

/// An index whose copies have the property of this number, stored or in their key. Only `#[derive(Entity)]` implements it.
///
/// The number is made of the property's name: it names the property in a type.
#[diagnostic::on_unimplemented(
    message = "[T070] the copies of the index `{Self}` do not keep a property that the projection asks for",
    label = "a projection of these copies has a field that they do not keep",
    note = "the field is shown below: add it to the index's `keep(…)`, or take it out of the projection"
)]
pub trait Keeps<const PROPERTY: u64, const OF_KEY: bool = false>: Index {}

/// Reads a copy as a projection.
pub(crate) fn read_copy<I: CopyIndex, P: FromEntity>(copy: EntityRef<'_>) -> Result<P> {
    let select = P::select();
    if !I::GIVEN.iter().any(|name| select.contains(name)) {
        return P::from_entity(copy);
    }
    let mut row = RowWriter::with_capacity(copy.row.len() + I::GIVEN.len());
    for property in copy.row.properties() {
        let property = property?;
        row.property(property.name, property.value);
    }
    I::write_given(copy, &mut row)?;
    P::from_entity(EntityRef::new(copy.partition_key, copy.row_key, row.finish().view()))
}
