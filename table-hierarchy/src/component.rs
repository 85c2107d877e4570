//! The value of one level of a partition key.

use std::borrow::Cow;

/// The value of one level of a partition key.
///
/// Values of different types form different keys (EPK-3). For example, the string `1`, the number 1 and a missing value are three different keys.
///
/// ```
/// use table_hierarchy::{Component, Epk};
///
/// assert_ne!(Epk::of(&[Component::text("1")]), Epk::of(&[Component::number(1.0).unwrap()]));
/// assert_eq!(Component::number(f64::NAN), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Component<'a>(Value<'a>);

#[derive(Clone, Debug, PartialEq)]
enum Value<'a> {
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'a> Component<'a> {
    /// The value of a missing property.
    pub const UNDEFINED: Self = Self(Value::Undefined);
    /// The value `null`.
    pub const NULL: Self = Self(Value::Null);

    /// Creates a string value. Case and spaces are preserved (EPK-4).
    #[must_use]
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self(Value::Text(text.into()))
    }

    /// Creates the value of a Boolean property.
    #[must_use]
    pub const fn boolean(value: bool) -> Self {
        Self(Value::Boolean(value))
    }

    /// Creates a numeric value. Returns `None` for NaN and the infinities, which cannot be keys (EPK-1). Negative zero becomes zero (EPK-2).
    #[must_use]
    pub fn number(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(Value::Number(value + 0.0)))
    }

    /// Appends the bytes that are hashed for this value.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Value::Undefined => out.push(0x00),
            Value::Null => out.push(0x01),
            Value::Boolean(false) => out.push(0x02),
            Value::Boolean(true) => out.push(0x03),
            Value::Number(number) => {
                out.push(0x05);
                out.extend(number.to_le_bytes());
            }
            Value::Text(text) => {
                out.push(0x08);
                out.extend(text.as_bytes());
                out.push(0xFF);
            }
        }
    }
}

impl<'a> From<&'a str> for Component<'a> {
    fn from(text: &'a str) -> Self {
        Self::text(text)
    }
}
