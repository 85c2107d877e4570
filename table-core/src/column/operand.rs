//! Operands of column comparisons. They are values of the column's type, or values that can be widened to it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, TimeDelta, Timelike, Utc};
use table_store::Value;
use uuid::Uuid;

use crate::filter::{Comparison, Filter};
use crate::property;

/// A value that can be compared with a column of type `T`.
///
/// Implement this trait for a custom [`Property`](crate::Property) type to compare columns of that type. The value must have the same Edm type. Columns of
/// `Option<T>` then also accept the value.
///
/// The parameter `As` distinguishes columns of `T` from columns of `Option<T>`. rustc infers it.
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
    label = "write a value of type `{T}`, such as `text.parse::<{T}>()?`; or `is_absent()` for `eq(None)`, and the value alone for `Some(value)`",
    note = "the value must have the column's Edm type; the store would see a type mismatch (FIL-16). A `&str` is a value of a column of `String`; \
            the text of an instant has a time and a zone, `\"2024-01-01T00:00:00Z\"`",
    note = "of an `Option`, write the value alone: `eq(value)` for `eq(Some(value))`, and `is_absent()` for `eq(None)`; two columns \
            are compared by the program, after the entities are read"
)]
pub trait Operand<T, As = Itself>: Sized {
    /// Converts the value to a constant in a filter.
    fn into_value(self) -> Value;

    /// Returns a filter that compares a property with this value. A type overrides this method if some of its values are outside the property's range.
    #[doc(hidden)]
    fn into_filter(self, name: &'static str, operator: Comparison) -> Filter {
        Filter::compare(name, operator, self.into_value())
    }
}

/// Marks an operand for a column of exactly the operand's type.
#[doc(hidden)]
#[derive(Debug)]
pub enum Itself {}

/// Marks an operand for a column whose type is an `Option` of the operand's type.
///
/// Without this type, the implementation for an `Option` would depend on itself. rustc would then report an overflow wherever a program calls an
/// unknown method whose name resembles a method of [`Operand`].
#[doc(hidden)]
#[derive(Debug)]
pub enum WithoutOption {}

/// Lets a column of an optional property accept the same operands as a column of the property itself.
impl<T, V: Operand<T>> Operand<Option<T>, WithoutOption> for V {
    fn into_value(self) -> Value {
        Operand::<T>::into_value(self)
    }

    fn into_filter(self, name: &'static str, operator: Comparison) -> Filter {
        Operand::<T>::into_filter(self, name, operator)
    }
}

/// A value that can be passed to [`is_in`](crate::Column::is_in). It is a list or an iterator of values that can be compared with a column of type `T`.
///
/// ```
/// use table_core::column::Operands;
///
/// /// Returns the number of values.
/// fn count(values: impl Operands<i32>) -> usize {
///     values.into_operands().count()
/// }
/// assert_eq!(count([30, 40]), 2); // `count(30)` does not compile: T230
/// ```
#[diagnostic::on_unimplemented(
    message = "[T230] `is_in` takes a list or an iterator of values for a column of type `{T}`, not `{Self}`",
    label = "write the values in brackets, `is_in([first, second])`",
    note = "the values are in brackets, `[first, second]`, or in a `Vec`; one value is compared by `eq`"
)]
pub trait Operands<T, As = Itself> {
    /// Returns the values in their order.
    fn into_operands(self) -> impl Iterator<Item: Operand<T, As>>;
}

#[diagnostic::do_not_recommend]
impl<T, As, V: Operand<T, As>, I: IntoIterator<Item = V>> Operands<T, As> for I {
    fn into_operands(self) -> impl Iterator<Item: Operand<T, As>> {
        self.into_iter()
    }
}

macro_rules! operand {
    ($($column:ty: $($operand:ty),+ => $this:ident $value:expr;)*) => {$($(
        #[diagnostic::do_not_recommend]
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
    NaiveDate: NaiveDate => day Value::String(day_text(day));
    NaiveTime: NaiveTime => time Value::String(time_text(time));
    IpAddr: IpAddr => address Value::String(address.to_string());
    Ipv4Addr: Ipv4Addr => address Value::String(address.to_string());
    Ipv6Addr: Ipv6Addr => address Value::String(address.to_string());
    u128: u128 => number Value::String(property::wide(number));
}

/// A number that may not fit into an `Edm.Int64`. If it does not fit, it is greater or less than every stored value.
enum Bounded {
    Stored(i64),
    Above,
    Below,
}

impl Bounded {
    /// Returns the number, or `Above` if it is too large for `Edm.Int64`.
    fn up_to_max<N>(number: N) -> Self
    where
        i64: TryFrom<N>,
    {
        i64::try_from(number).map_or(Self::Above, Self::Stored)
    }

    fn value(&self) -> Value {
        Value::Int64(match self {
            Self::Stored(number) => *number,
            Self::Above => i64::MAX,
            Self::Below => i64::MIN,
        })
    }

    fn filter(&self, name: &'static str, operator: Comparison) -> Filter {
        use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
        let operator = match (self, operator) {
            (Self::Stored(_), same) => same,
            (Self::Above, Ne | Lt | Le) => Le,
            (Self::Above, Eq | Gt | Ge) => Gt,
            (Self::Below, Ne | Gt | Ge) => Ge,
            (Self::Below, Eq | Lt | Le) => Lt,
        };
        Filter::compare(name, operator, self.value())
    }
}

macro_rules! bounded {
    ($($type:ty, $this:ident => $bounded:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Operand<$type> for $type {
            fn into_value(self) -> Value {
                let $this = self;
                $bounded.value()
            }

            fn into_filter(self, name: &'static str, operator: Comparison) -> Filter {
                let $this = self;
                $bounded.filter(name, operator)
            }
        }
    )*};
}

bounded! {
    u64, number => Bounded::up_to_max(number);
    Duration, duration => Bounded::up_to_max(duration.as_nanos());
    TimeDelta, delta => match delta.num_nanoseconds() {
        Some(number) => Bounded::Stored(number),
        None if delta < TimeDelta::zero() => Bounded::Below,
        None => Bounded::Above,
    };
}

/// Returns a day as text. For a day outside the years 0 to 9999, the text sorts before or after the texts of all stored days.
fn day_text(day: NaiveDate) -> String {
    property::day("", day).unwrap_or_else(|_| if day.year() < 0 { String::new() } else { "~".to_owned() })
}

/// Returns a time as text. The text of a leap second sorts between the texts of the seconds before and after it.
fn time_text(time: NaiveTime) -> String {
    // chrono represents a leap second as a fraction greater than one second, and prints it as second 60.
    property::time("", time)
        .unwrap_or_else(|_| format!("{}:{:02}.999999999~", time.format("%H:%M"), time.second()))
}

/// A column type whose values are text.
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

#[diagnostic::do_not_recommend]
impl Text for String {}
#[diagnostic::do_not_recommend]
impl Text for Option<String> {}

/// A column type whose values are `bool`.
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

#[diagnostic::do_not_recommend]
impl BoolColumn for bool {}
#[diagnostic::do_not_recommend]
impl BoolColumn for Option<bool> {}
