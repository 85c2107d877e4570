//! Support for generated schemas of fields stored as JSON.

use std::marker::PhantomData;

use crate::property::{Json, PropertyFacts};
use crate::schema::PropertySchema;

/// Detects, at compile time, types whose JSON can be `null`. Such a value is stored as an absent property.
///
/// Generated code reads `MayBeNull::<T>::IS`. If `T` is an `Option` or the `Json` of an `Option`, this is a constant of this type. Otherwise, it is the
/// constant of [`NotNull`]. Type parameters and newtypes are not treated as an `Option`.
#[derive(Debug)]
pub struct MayBeNull<T>(PhantomData<T>);

impl<T> MayBeNull<Option<T>> {
    /// `true`, because `None` is stored as an absent property.
    pub const IS: bool = true;
}

impl<T> MayBeNull<Json<Option<T>>> {
    /// `true`, because the JSON of the inner `Option` can be `null`.
    pub const IS: bool = true;
}

/// The fallback for every type other than an `Option` or the `Json` of an `Option`.
pub trait NotNull {
    /// `false`, because the property is not expected to be absent.
    const IS: bool = false;
}

impl<T> NotNull for MayBeNull<T> {}

/// Returns the schema of a property stored as JSON.
#[must_use]
pub const fn json_schema(
    name: &'static str,
    field: &'static str,
    facts: PropertyFacts,
    may_be_null: bool,
) -> PropertySchema {
    PropertySchema { name, field, edm: facts.edm, optional: facts.optional || may_be_null }
}
