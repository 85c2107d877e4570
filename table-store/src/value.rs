//! Property values: the service's eight Edm types (TYPE-1), owned and borrowed.

use std::fmt;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::error::{Error, ErrorCode, Result, quoted};
use crate::ticks;

/// The type of a property value (TYPE-1). Its discriminant is the type tag in encoded rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EdmType {
    /// UTF-16 text of at most 32,768 code units.
    String = 1,
    /// A 32-bit signed integer.
    Int32 = 2,
    /// A 64-bit signed integer.
    Int64 = 3,
    /// An IEEE 754 double.
    Double = 4,
    /// `true` or `false`.
    Boolean = 5,
    /// A date-time in the years 1601 to 9999, with a resolution of 100 ns.
    DateTime = 6,
    /// A 128-bit identifier.
    Guid = 7,
    /// A byte sequence of at most 65,536 bytes.
    Binary = 8,
}

impl EdmType {
    /// All eight types, in tag order.
    pub const ALL: [Self; 8] = [
        Self::String,
        Self::Int32,
        Self::Int64,
        Self::Double,
        Self::Boolean,
        Self::DateTime,
        Self::Guid,
        Self::Binary,
    ];

    /// Returns the type's name in JSON, such as `Edm.Int64`.
    ///
    /// ```
    /// assert_eq!(table_core::EdmType::Int64.name(), "Edm.Int64");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "Edm.String",
            Self::Int32 => "Edm.Int32",
            Self::Int64 => "Edm.Int64",
            Self::Double => "Edm.Double",
            Self::Boolean => "Edm.Boolean",
            Self::DateTime => "Edm.DateTime",
            Self::Guid => "Edm.Guid",
            Self::Binary => "Edm.Binary",
        }
    }

    /// Returns the type with this JSON name, or `None` if the name is unknown (ENG-10).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "Edm.String" => Self::String,
            "Edm.Int32" => Self::Int32,
            "Edm.Int64" => Self::Int64,
            "Edm.Double" => Self::Double,
            "Edm.Boolean" => Self::Boolean,
            "Edm.DateTime" => Self::DateTime,
            "Edm.Guid" => Self::Guid,
            "Edm.Binary" => Self::Binary,
            _ => return None,
        })
    }

    pub(crate) const fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            1 => Self::String,
            2 => Self::Int32,
            3 => Self::Int64,
            4 => Self::Double,
            5 => Self::Boolean,
            6 => Self::DateTime,
            7 => Self::Guid,
            8 => Self::Binary,
            _ => return None,
        })
    }
}

impl fmt::Display for EdmType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An owned property value.
///
/// ```
/// use table_core::{EdmType, Value};
///
/// assert_eq!(Value::from("Ada").edm_type(), EdmType::String);
/// assert_eq!(Value::from(34).edm_type(), EdmType::Int32);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A value of type `Edm.String`.
    String(String),
    /// A value of type `Edm.Int32`.
    Int32(i32),
    /// A value of type `Edm.Int64`.
    Int64(i64),
    /// A value of type `Edm.Double`.
    Double(f64),
    /// A value of type `Edm.Boolean`.
    Boolean(bool),
    /// A value of type `Edm.DateTime`.
    DateTime(DateTime<Utc>),
    /// A value of type `Edm.Guid`.
    Guid(Uuid),
    /// A value of type `Edm.Binary`.
    Binary(Vec<u8>),
}

/// A property value borrowed from an encoded row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// A value of type `Edm.String`.
    String(&'a str),
    /// A value of type `Edm.Int32`.
    Int32(i32),
    /// A value of type `Edm.Int64`.
    Int64(i64),
    /// A value of type `Edm.Double`.
    Double(f64),
    /// A value of type `Edm.Boolean`.
    Boolean(bool),
    /// A value of type `Edm.DateTime`, in [ticks].
    DateTime(u64),
    /// A value of type `Edm.Guid`.
    Guid(Uuid),
    /// A value of type `Edm.Binary`.
    Binary(&'a [u8]),
}

/// Implements `edm_type` for owned and borrowed values. Their variants have the same names as the types.
macro_rules! edm_type {
    ($value:expr) => {
        match $value {
            Self::String(_) => EdmType::String,
            Self::Int32(_) => EdmType::Int32,
            Self::Int64(_) => EdmType::Int64,
            Self::Double(_) => EdmType::Double,
            Self::Boolean(_) => EdmType::Boolean,
            Self::DateTime(_) => EdmType::DateTime,
            Self::Guid(_) => EdmType::Guid,
            Self::Binary(_) => EdmType::Binary,
        }
    };
}

impl ValueRef<'_> {
    /// Returns the type of the value.
    #[must_use]
    pub const fn edm_type(&self) -> EdmType {
        edm_type!(self)
    }

    /// Returns an owned value. If ticks are after the year 9999, they become chrono's latest date-time, which no store accepts (TYPE-6).
    ///
    /// ```
    /// use table_core::{Value, ValueRef};
    ///
    /// assert_eq!(ValueRef::String("Ada").to_owned(), Value::from("Ada"));
    /// ```
    #[must_use]
    pub fn to_owned(&self) -> Value {
        match *self {
            Self::String(text) => Value::String(text.to_owned()),
            Self::Int32(number) => Value::Int32(number),
            Self::Int64(number) => Value::Int64(number),
            Self::Double(number) => Value::Double(number),
            Self::Boolean(flag) => Value::Boolean(flag),
            Self::DateTime(count) => {
                Value::DateTime(ticks::to_datetime(count).unwrap_or(DateTime::<Utc>::MAX_UTC))
            }
            Self::Guid(guid) => Value::Guid(guid),
            Self::Binary(bytes) => Value::Binary(bytes.to_vec()),
        }
    }
}

impl Value {
    /// Returns the type of the value.
    #[must_use]
    pub const fn edm_type(&self) -> EdmType {
        edm_type!(self)
    }

    /// Returns the borrowed value. A date-time is truncated to a whole tick (TICK-6). A date-time outside the tick range becomes a number of ticks that every
    /// store rejects (TYPE-6).
    ///
    /// ```
    /// use table_core::{Value, ValueRef};
    ///
    /// assert_eq!(Value::from(34).as_ref(), ValueRef::Int32(34));
    /// ```
    #[must_use]
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::String(text) => ValueRef::String(text),
            Self::Int32(number) => ValueRef::Int32(*number),
            Self::Int64(number) => ValueRef::Int64(*number),
            Self::Double(number) => ValueRef::Double(*number),
            Self::Boolean(flag) => ValueRef::Boolean(*flag),
            Self::DateTime(instant) => ValueRef::DateTime(datetime_ticks(*instant)),
            Self::Guid(guid) => ValueRef::Guid(*guid),
            Self::Binary(bytes) => ValueRef::Binary(bytes),
        }
    }
}

/// Converts `instant` to ticks for an encoded row. A date-time out of range becomes `u64::MAX` or 0. The validation of rows rejects both.
pub(crate) fn datetime_ticks(instant: DateTime<Utc>) -> u64 {
    ticks::from_datetime(instant).unwrap_or(if instant.timestamp() > 0 { u64::MAX } else { 0 })
}

/// Returns the ticks of `instant`. Returns an error that names the property if `instant` is a leap second or outside the range of `Edm.DateTime` (TYPE-6).
///
/// A leap second would be stored as the next second (TICK-1), which may belong to a different hour or week.
#[doc(hidden)]
pub fn edm_ticks(name: &str, instant: DateTime<Utc>) -> Result<u64> {
    if instant.timestamp_subsec_nanos() >= 1_000_000_000 {
        let name = quoted(name);
        let message =
            format!("property `{name}`: {instant} is a leap second, which cannot be stored; check the value");
        return Err(Error::new(ErrorCode::OutOfRangeInput, message).with_rule("TYPE-1"));
    }
    let found = ticks::from_datetime(instant).filter(|ticks| *ticks >= ticks::EDM_MIN);
    found.ok_or_else(|| out_of_range(name, &instant))
}

/// Returns the error for a date-time outside the range of `Edm.DateTime` (TYPE-6).
pub(crate) fn out_of_range(name: &str, found: &dyn fmt::Display) -> Error {
    let name = quoted(name);
    let message = format!("property `{name}`: {found} is outside the years 1601 to 9999 of an Edm.DateTime");
    Error::new(ErrorCode::OutOfRangeInput, message).with_rule("TYPE-6")
}

macro_rules! from {
    ($($source:ty => $variant:ident $(, $convert:ident)?;)*) => {$(
        impl From<$source> for Value {
            fn from(value: $source) -> Self {
                Self::$variant(value$(.$convert())?)
            }
        }
    )*};
}

from! {
    &str => String, to_owned;
    String => String;
    i32 => Int32;
    i64 => Int64;
    f64 => Double;
    bool => Boolean;
    DateTime<Utc> => DateTime;
    Uuid => Guid;
    Vec<u8> => Binary;
    &[u8] => Binary, to_vec;
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        value.to_owned()
    }
}
