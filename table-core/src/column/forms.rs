//! Traits whose error messages show the columns and the key of an entity.
//!
//! The derive implements them for each entity, under a bound that no entity satisfies. rustc then reports that bound, and its message contains the names of the
//! entity's fields. For all other types, rustc shows the messages in this module.

use crate::column::{Condition, IntoCondition, KeyColumn};
use crate::property::Property;

/// A trait whose message shows how to compare columns. rustc shows it if an argument of `filter` is not a condition.
#[diagnostic::on_unimplemented(
    message = "[T096] `{A}` is not a condition on `{Self}`: a filter compares columns",
    label = "write a comparison of a column, by `eq`, `ne`, `gt`, `ge`, `lt` or `le`",
    note = "columns are constants of `{Self}`, the names of its fields in capitals"
)]
pub trait ShowsConditions<A> {
    /// A type without values.
    type Never: Property;
}

/// A trait whose message shows how to select rows. rustc shows it if a filter compares a field of the key.
#[diagnostic::on_unimplemented(
    message = "[T097] a filter compares properties, and this is a field of the key of `{Self}`",
    label = "select the entities by their key",
    note = "or store the field as a property too, `#[property(also)]` above it, which makes it a column of filters"
)]
pub trait ShowsKey<A> {
    /// A type without values.
    type Never: Property;
}

/// A column of a stored property. [`KeyColumn`] does not implement this trait, so methods that require it do not compile for a key column.
pub trait IsProperty<E> {}

impl<E: ShowsKey<Self>, T> IsProperty<E> for KeyColumn<E, T> {}

/// Implements a trait of arguments for types that are no such argument.
macro_rules! refused_arguments {
    ($($argument:ty),*) => {$(
        #[doc(hidden)]
        impl<E: ShowsConditions<Self>> IntoCondition<E> for $argument {
            fn into_condition(self) -> Condition<E> {
                Condition::any([])
            }
        }
    )*};
}

refused_arguments! { bool, &str, &String, String }
