//! Selections that are narrowed part by part.

use crate::error::Result;
use crate::query::KeyRange;
use crate::selection::{Class, Selection};

/// A selection under construction: `Employee::rows("Sales")`. Generated code implements this trait once for each of its types. With `From` impls for
/// [`Selection`] instead, rustc would have to consider all of them.
#[doc(hidden)]
pub trait Narrowed {
    /// The entity.
    type Entity;
    /// The class.
    type Class: Class;
    /// The source.
    type Source;

    /// Returns the key ranges.
    ///
    /// # Errors
    /// `KeyEncoding` if a given value cannot be encoded.
    fn ranges(self) -> Result<Vec<KeyRange>>;
}

impl<N: Narrowed> From<N> for Selection<N::Entity, N::Class, N::Source> {
    fn from(narrowed: N) -> Self {
        Self::new(narrowed.ranges())
    }
}
