//! Fields in index keys: a part of a key, or an `Option` of one, whose absence leaves the entity out of the index.

use crate::key::KeyPart;

/// A type that can occur in the key of an index: a [`KeyPart`], or an `Option` of one. An entity without the value is not
/// indexed.
///
/// ```
/// use table_core::index::IndexPart;
///
/// assert_eq!(7_u32.indexed(), Some(&7));
/// assert_eq!((Some(7_u32).indexed(), None::<u32>.indexed()), (Some(&7), None));
/// assert!(Option::<u32>::SPARSE && !u32::SPARSE);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T026] `{Self}` cannot be part of an index's key",
    label = "no key encoding is known for this type",
    note = "integers, `String`, `bool`, `char`, `Uuid`, `DateTime<Utc>`, `NaiveDate` have one, and so has `Option` of them",
    note = "for a newtype or a fieldless enum of your own: `#[derive(KeyPart)]`; a float has no place in a key"
)]
pub trait IndexPart {
    /// The value that is written.
    type Part: KeyPart;
    /// Whether the value can be absent.
    const SPARSE: bool;

    /// The value, unless it is absent.
    fn indexed(&self) -> Option<&Self::Part>;

    /// The field of a value read back from the key.
    fn from_part(part: Self::Part) -> Self;
}

impl<T: KeyPart> IndexPart for T {
    type Part = T;
    const SPARSE: bool = false;

    fn indexed(&self) -> Option<&T> {
        Some(self)
    }

    fn from_part(part: T) -> Self {
        part
    }
}

impl<T: KeyPart> IndexPart for Option<T> {
    type Part = T;
    const SPARSE: bool = true;

    fn indexed(&self) -> Option<&T> {
        self.as_ref()
    }

    fn from_part(part: T) -> Self {
        Some(part)
    }
}
