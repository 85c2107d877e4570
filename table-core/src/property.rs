//! Rust types that can be stored as properties. Each type has one Edm type. An `Option` is a property that may be absent (ENT-3, TYPE-1).

mod chunks;
#[cfg(feature = "rust_decimal")]
mod decimal;
mod facts;
mod fault;
mod json;
mod rest;
mod search;
#[cfg(test)]
mod tests;
mod types;
mod wrong;

pub use chunks::Chunked;
#[doc(hidden)]
pub use facts::PropertyFacts;
pub use json::Json;
#[doc(hidden)]
pub use json::JsonValue;
pub use rest::Rest;
#[doc(hidden)]
pub use search::Search;
use table_store::{EdmType, Error, Result, Value, ValueRef};
pub(crate) use types::{day, time, wide};

pub use crate::chunk_name::MOST_CHUNKS;
use crate::property::fault::PropertyFault;
use crate::row::{RowReader, RowView, RowWriter};

/// A type whose values can be stored as properties.
///
/// | Rust | stored as |
/// | --- | --- |
/// | `String` | `Edm.String` |
/// | `i8`, `i16`, `i32`, `u8`, `u16` | `Edm.Int32` |
/// | `u32`, `i64` | `Edm.Int64`, the smallest type that holds every value |
/// | `u64` | `Edm.Int64`; a value above [`i64::MAX`] is rejected when it is written |
/// | `f32`, `f64` | `Edm.Double` |
/// | `bool`, `DateTime<Utc>`, `Uuid`, `Vec<u8>` | `Edm.Boolean`, `Edm.DateTime`, `Edm.Guid`, `Edm.Binary` |
/// | `NaiveDate`, `NaiveTime` | `Edm.String`: `2014-04-23`, `09:05:00` with any fractional digits; sorts chronologically |
/// | `IpAddr`, `Ipv4Addr`, `Ipv6Addr` | `Edm.String`, such as `127.0.0.1` |
/// | `u128` | `Edm.String`: 39 digits; sorts like the number |
/// | `std::time::Duration`, `chrono::TimeDelta` | `Edm.Int64`: nanoseconds; a duration of more than 292 years is rejected when it is written |
/// | `rust_decimal::Decimal` (feature `rust_decimal`) | `Edm.String`: `19.90`, exact; filters cannot compare it, because its text is not ordered |
/// | [`Json<T>`] | `Edm.String` |
/// | an enum with `#[derive(KeyPart)]` | `Edm.String`: the name of the variant |
/// | `Option<T>` | like `T`, or absent |
///
/// An `Edm.DateTime` has a resolution of 100 ns. A `DateTime<Utc>` with a finer resolution is truncated (TICK-6), so the entity read back differs from the
/// written one. To truncate a value beforehand, use [`ticks::truncate`](crate::ticks::truncate). To detect untruncated values in a test, use
/// [`entity::check_round_trip`](crate::entity::check_round_trip).
///
/// A custom type can delegate to one of these types:
///
/// ```
/// use table_core::property::{self, Property};
/// use table_core::row::RowWriter;
/// use table_core::{EdmType, Result, ValueRef};
///
/// #[derive(Debug, PartialEq)]
/// struct Celsius(f64);
///
/// impl Property for Celsius {
///     const EDM: EdmType = f64::EDM;
///
///     fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()> {
///         self.0.write_to(name, row)
///     }
///
///     fn from_value(value: Option<ValueRef<'_>>) -> Result<Self> {
///         f64::from_value(value).map(Self)
///     }
/// }
///
/// let mut writer = RowWriter::new();
/// Celsius(21.5).write_to("Room", &mut writer)?;
/// let row = writer.finish();
/// assert_eq!(property::read::<Celsius>(row.view(), "Room", &mut 0)?, Celsius(21.5));
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "[T050] `{Self}` cannot be a property",
    label = "write `#[property(json)]` above this field, whose type derives serde's `Serialize` and `Deserialize`; or `#[derive(table_patterns::KeyPart)]` above an enum without data",
    note = "`String`, integers of fixed width (`u64` for a `usize`), `f64`, `bool`, `DateTime<Utc>` (for a `SystemTime` or a `NaiveDateTime`), `NaiveDate`, \
            `NaiveTime`, `Duration`, `TimeDelta`, `Uuid`, IP addresses, `Vec<u8>`, and `Option` of them are properties, and `Decimal` with the feature `rust_decimal`",
    note = "`#[property(json)]` stores a list or a struct as JSON in one property, and `#[derive(KeyPart)]` an enum as the name of its variant; an entity of its own \
            is referred to by its key",
    note = "a newtype implements `Property` with the value inside, as in the example of `Property`; a parameter of a generic entity needs the bound `<T: Property>`"
)]
pub trait Property: Sized {
    /// The Edm type of the stored value.
    const EDM: EdmType;
    /// `true` if the value may be absent.
    const OPTIONAL: bool = false;
    /// The metadata that generated code needs. It is a single constant, because each constant referenced by an expansion adds to the compile time.
    #[doc(hidden)]
    const FACTS: PropertyFacts =
        PropertyFacts { edm: Self::EDM, optional: Self::OPTIONAL, is_option_twice: false };

    /// Appends the value to a row under this name. Appends nothing if the value is absent.
    ///
    /// # Errors
    /// `OutOfRangeInput`, with the name, if the value is outside the range of its Edm type (TYPE-6).
    fn write_to(&self, name: &str, row: &mut RowWriter) -> Result<()>;

    /// Converts a stored value to this type. The stored value is `None` if the property is absent.
    ///
    /// # Errors
    /// `EntityMismatch` if the value is absent or has a different type. An `Int32` is accepted as an `Int64` or a `Double`. Writers that omit type annotations
    /// lose the difference (ENG-12).
    fn from_value(value: Option<ValueRef<'_>>) -> Result<Self>;

    /// Reads the next property of a row if it has this name and type. If this method returns `None`, call [`from_value`](Self::from_value) instead.
    ///
    /// This is a fast path for built-in types, which avoids an intermediate value.
    #[doc(hidden)]
    #[inline]
    fn from_next(_row: &mut RowReader<'_>, _name: &str) -> Option<Self> {
        None
    }

    /// Reads the next property into an existing value, reusing its memory. If this method returns `false`, call [`from_value`](Self::from_value) instead.
    #[doc(hidden)]
    #[inline]
    fn next_again(&mut self, row: &mut RowReader<'_>, name: &str) -> bool {
        Self::from_next(row, name).map(|value| *self = value).is_some()
    }

    /// Reads the next property of a row. On failure, returns `None` and stores the error in `search`. Called by generated code.
    ///
    /// This function belongs to the trait, so rustc reports an unsupported property type only once.
    #[doc(hidden)]
    #[inline]
    fn read_next(search: &mut Search<'_>, name: &'static str) -> Option<Self> {
        match Self::from_next(&mut search.row, name) {
            Some(value) => Some(value),
            None => read_anywhere(search, name),
        }
    }

    /// Reads the next property into an existing value. On failure, returns `false` and stores the error in `search`.
    #[doc(hidden)]
    #[inline]
    fn read_again(&mut self, search: &mut Search<'_>, name: &'static str) -> bool {
        self.next_again(&mut search.row, name) || anywhere_again(self, search, name)
    }
}

/// Returns the stored value of a property, or `None` if nothing is stored.
///
/// # Errors
/// Any error from [`Property::write_to`].
///
/// ```
/// use table_core::{Value, property};
///
/// assert_eq!(property::to_value(&34_u8)?, Some(Value::Int32(34)));
/// assert_eq!(property::to_value(&None::<i32>)?, None);
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn to_value<T: Property>(property: &T) -> Result<Option<Value>> {
    to_value_named(property, "")
}

/// Returns the stored value of a property, like [`to_value`]. An error contains the name of the property.
pub(crate) fn to_value_named<T: Property>(property: &T, name: &str) -> Result<Option<Value>> {
    let mut row = RowWriter::with_capacity(1);
    property.write_to(name, &mut row)?;
    row.finish().view().find(name, &mut 0).map(|value| value.map(Value::from))
}

/// Reads a property from a row. For `hint`, see [`RowView::find`].
///
/// # Errors
/// `EntityMismatch`, with the name, if the property is absent or has a different type; `Corrupted` if the bytes are not a row.
///
/// ```
/// use table_core::row::RowWriter;
/// use table_core::{Property, property};
///
/// let mut writer = RowWriter::new();
/// 34.write_to("Age", &mut writer)?;
/// let row = writer.finish();
/// assert_eq!(property::read::<i64>(row.view(), "Age", &mut 0)?, 34); // an Int32 is read as an i64 (ENG-12)
/// let error = property::read::<String>(row.view(), "Age", &mut 0).unwrap_err();
/// assert!(error.to_string().contains("property `Age`"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn read<T: Property>(row: RowView<'_>, name: &str, hint: &mut usize) -> Result<T> {
    T::from_value(row.find(name, hint)?).map_err(|error| error.with_property(name))
}

/// Reads a property that the fast path could not read. The property is not the next one in the row, needs a conversion, or is malformed.
#[inline(never)]
fn read_anywhere<T: Property>(search: &mut Search<'_>, name: &'static str) -> Option<T> {
    let read = read(search.row.row(), name, &mut search.row.next);
    search.keep(read)
}

/// Like [`read_anywhere`], but reads the property into an existing value.
#[inline(never)]
fn anywhere_again<T: Property>(value: &mut T, search: &mut Search<'_>, name: &'static str) -> bool {
    read_anywhere(search, name).map(|read| *value = read).is_some()
}

fn mismatch(wanted: EdmType, found: Option<ValueRef<'_>>) -> Error {
    Error::of(PropertyFault::Type { wanted, found: found.map(|value| value.edm_type()) })
}
