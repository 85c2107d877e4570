//! Operands of column comparisons: values of the column's type, and values that widen to it.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::value::Value;

/// A value that a column of type `T` can be compared with.
///
/// Implement it for a type that implements [`Property`](crate::Property) to compare its columns. The value must have the same Edm type.
///
/// ```
/// use table_core::{Entity, column::Operand};
///
/// #[derive(Entity)]
/// #[partition_key(department)]
/// #[row_key("empid_", digits(6, id))]
/// struct Employee {
///     department: String,
///     id: u32,
///     age: i32,
/// }
///
/// let adult = Employee::AGE.ge(18); // `i32: Operand<i32>`
/// let text: &str = "Ada"; // `&str: Operand<String>`
/// assert_eq!(Operand::<String>::into_value(text), table_core::Value::String("Ada".into()));
/// # drop(adult);
/// ```
#[diagnostic::on_unimplemented(
    message = "[T087] a column of type `{T}` cannot be compared with `{Self}`",
    label = "not of the column's type",
    note = "the value must have the column's Edm type; the store would see a type mismatch (FIL-16)"
)]
pub trait Operand<T> {
    /// Converts to the constant in the filter.
    fn into_value(self) -> Value;
}

/// A column of an optional property accepts the same operands as a column of the property.
impl<T, V: Operand<T>> Operand<Option<T>> for V {
    fn into_value(self) -> Value {
        Operand::<T>::into_value(self)
    }
}

macro_rules! operand {
    ($($column:ty: $($operand:ty),+ => $this:ident $value:expr;)*) => {$($(
        impl Operand<$column> for $operand {
            fn into_value(self) -> Value {
                let $this = self;
                $value
            }
        }
    )+)*};
}

operand! {
    String: String => text Value::String(text);
    String: &String, &str => text Value::String(text.to_owned());
    bool: bool => flag Value::Boolean(flag);
    i8: i8 => number Value::Int32(number.into());
    i16: i16 => number Value::Int32(number.into());
    i32: i32 => number Value::Int32(number);
    u8: u8 => number Value::Int32(number.into());
    u16: u16 => number Value::Int32(number.into());
    u32: u32 => number Value::Int64(number.into());
    i64: i64 => number Value::Int64(number);
    i64: i32, u32 => number Value::Int64(number.into());
    f32: f32 => number Value::Double(number.into());
    f64: f64 => number Value::Double(number);
    f64: f32, i32 => number Value::Double(number.into());
    Uuid: Uuid => guid Value::Guid(guid);
    Vec<u8>: Vec<u8> => bytes Value::Binary(bytes);
    Vec<u8>: &Vec<u8> => bytes Value::Binary(bytes.clone());
    Vec<u8>: &[u8] => bytes Value::Binary(bytes.to_vec());
    DateTime<Utc>: DateTime<Utc> => instant Value::DateTime(instant);
}

/// A column type that holds text.
///
/// ```
/// # use table_core::Entity;
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key("empid_", id)]
/// # struct Employee {
/// #     department: String,
/// #     #[digits(6)]
/// #     id: u32,
/// #     age: i32,
/// # }
/// use table_core::column::Text;
///
/// /// Accepts the types of columns that support prefix conditions.
/// fn has_prefixes<T: Text>() {}
/// has_prefixes::<String>();
/// has_prefixes::<Option<String>>(); // `i32` does not compile: T088
/// ```
#[diagnostic::on_unimplemented(
    message = "[T088] `starts_with` requires a column of text",
    label = "`{Self}` is not text"
)]
pub trait Text {}

impl Text for String {}
impl Text for Option<String> {}

/// A column type that holds a `bool`.
///
/// ```
/// use table_core::column::BoolColumn;
///
/// /// Accepts the types of columns that can be a condition.
/// fn is_condition<T: BoolColumn>() {}
/// is_condition::<bool>();
/// is_condition::<Option<bool>>(); // `String` does not compile: T089
/// ```
#[diagnostic::on_unimplemented(
    message = "[T089] `is_true` requires a column of `bool`",
    label = "`{Self}` is not a `bool`"
)]
pub trait BoolColumn {}

impl BoolColumn for bool {}
impl BoolColumn for Option<bool> {}
