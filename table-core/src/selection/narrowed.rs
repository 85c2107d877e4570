//! Selections that are narrowed part by part.

use crate::error::Result;
use crate::query::KeyRange;
use crate::selection::{Class, Selection};

/// A value that is a selection already: `Employee::rows("Sales")`. Only generated code implements it, once for each of its types: so
/// that rustc compares no two of them, as it would if each were turned into a [`Selection`] by a `From` of its own.
#[doc(hidden)]
pub trait Narrowed {
    /// The entity.
    type Entity;
    /// The class.
    type Class: Class;
    /// The source.
    type Source;

    /// Which keys.
    ///
    /// # Errors
    /// `KeyEncoding` if a value given has no text in its place.
    fn ranges(self) -> Result<Vec<KeyRange>>;
}

impl<N: Narrowed> From<N> for Selection<N::Entity, N::Class, N::Source> {
    fn from(narrowed: N) -> Self {
        Self::new(narrowed.ranges())
    }
}
