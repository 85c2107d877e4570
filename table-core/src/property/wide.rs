//! Integers of another width than those of Edm types: their compile error.

use crate::error::Result;
use crate::property::Property;
use crate::row::RowWriter;
use crate::value::{EdmType, ValueRef};

/// The type Edm.Int64.
#[derive(Debug)]
pub enum Int64 {}

/// Holds every value of a type (TYPE-1). An integer of 64 bits without a sign is not held, nor one of 128 bits or of the machine's width, so that
/// nothing implements this: the
/// bound exists to be reported, in place of that of [`Property`], which therefore speaks of another type than `T`.
#[diagnostic::on_unimplemented(
    message = "[T051] a property cannot be a `{T}`: Edm.Int64 has 64 bits and a sign",
    label = "values above 9223372036854775807 could not be stored",
    note = "take `i64`, or `u32` if its values are small; a greater value is stored as a `String` or as `Vec<u8>`",
    note = "in a key `u64`, `u128` and `i128` have their place: there they are text"
)]
pub trait Holds<T> {
    /// The value as it is stored.
    fn store(value: &T) -> i64;

    /// The value of what is stored.
    fn load(stored: i64) -> T;
}

macro_rules! refused {
    ($($type:ty)*) => {$(
        // For a lifetime, so that the bound is judged where the type is used and not here.
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

refused! { u64 u128 i128 usize isize }
