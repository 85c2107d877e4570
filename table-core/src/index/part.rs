//! Types that index keys can contain. If the value of an optional key part is `None`, the entity is not indexed.

use crate::key::codec::KeyPart;

/// A type that an index key can contain. It is a [`KeyPart`], or an `Option` of a [`KeyPart`]. If the value is `None`, the entity is not indexed.
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
    label = "this type has no key encoding: write `#[derive(KeyPart)]` above its declaration, if it is your own",
    note = "`KeyPart` is derived for a newtype and for an enum without data; a type with several values is a field for each value",
    note = "integers, `String`, `bool`, `char`, `Uuid`, `DateTime<Utc>`, `NaiveDate` and `Option`s of them are key parts; floats are not"
)]
pub trait IndexPart {
    /// The type of the value in the key.
    type Part: KeyPart;
    /// `true` if the value may be `None`. The index is then sparse, because it lacks entities without a value.
    const SPARSE: bool;

    /// Returns the value to index, or `None` if the entity is not indexed.
    fn indexed(&self) -> Option<&Self::Part>;

    /// Converts a value read from a key to the field's type.
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

#[diagnostic::do_not_recommend]
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
