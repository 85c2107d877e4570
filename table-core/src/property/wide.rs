//! The compile error for integers that cannot be a property.

use crate::error::Result;
use crate::property::Property;
use crate::row::RowWriter;
use crate::value::{EdmType, ValueRef};

/// The type `Edm.Int64`.
#[derive(Debug)]
pub enum Int64 {}

/// A type that stores an integer `T` (TYPE-1). It is not implemented for 128-bit and pointer-sized integers. The bound exists for its error message,
/// which replaces the message of [`Property`].
#[diagnostic::on_unimplemented(
    message = "[T051] `{T}` cannot be a property: the largest integer of a property is Edm.Int64, with 64 bits and a sign",
    label = "expected `i64`, `u64` or a smaller integer",
    note = "a `u64` above 9223372036854775807 is refused when it is written; store greater values as `String` or `Vec<u8>`",
    note = "`u128` and `i128` can be used in keys, where they are text; `usize` and `isize` differ between machines"
)]
pub trait Holds<T> {
    /// Converts a value to its stored form.
    fn store(value: &T) -> i64;

    /// Converts a stored value.
    fn load(stored: i64) -> T;
}

macro_rules! refused {
    ($($type:ty)*) => {$(
        // Has a lifetime, because the bound must be checked where the type is used.
        impl Property for $type
        where
            for<'a> Int64: Holds<$type>,
        {
            const EDM: EdmType = EdmType::Int64;

            fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
                Int64::store(self).write_to(name, row)
            }

            fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
                i64::from_value(value).map(Int64::load)
            }
        }
    )*};
}

refused! { u128 i128 usize isize }
