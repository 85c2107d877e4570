//! A JSON value as its declared type, or as its form implies (TYPE-2, TYPE-3, TYPE-8, TYPE-9).

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::odata::fault::ODataFault;
use crate::ticks;
use crate::value::{EdmType, ValueRef, edm_ticks};

/// One JSON value, the spelling of numbers kept apart: `3` is an integer, `3.0` is not (TYPE-3).
#[derive(Debug)]
pub(crate) enum Token<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    /// A number with a fraction or an exponent, one beyond 64 bits, or `-0`.
    Number(f64),
    Text(Cow<'a, str>),
    /// An array or an object.
    Nested,
}

impl<'de> Deserialize<'de> for Token<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TokenVisitor)
    }
}

struct TokenVisitor;

impl<'de> Visitor<'de> for TokenVisitor {
    type Value = Token<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Token::Null)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Token::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Token::Boolean(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Token::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "TYPE-3: an integer beyond its type is the nearest Double"
        )]
        Ok(i64::try_from(number).map_or(Token::Number(number as f64), Token::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Token::Number(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Token::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Token::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Token::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Token::Nested)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Token::Nested)
    }
}

impl Token<'_> {
    /// The value of a property; `None` for `null`. `buffer` is where bytes are decoded to.
    ///
    /// # Errors
    /// `InvalidInput` if it is not of its type (TYPE-8, TYPE-9, ENG-10); `OutOfRangeInput` for an instant (TYPE-6).
    pub(crate) fn value<'v>(
        &'v self,
        name: &str,
        edm: Option<EdmType>,
        buffer: &'v mut Vec<u8>,
    ) -> Result<Option<ValueRef<'v>>> {
        let value = match (self, edm) {
            (Self::Null, _) => return Ok(None),
            (Self::Nested, _) => {
                return Err(Error::of(ODataFault::Nested).with_property(name));
            }
            (Self::Text(text), None | Some(EdmType::String)) => Some(ValueRef::String(text)),
            (Self::Boolean(flag), None | Some(EdmType::Boolean)) => Some(ValueRef::Boolean(*flag)),
            (Self::Integer(number), None) => {
                Some(i32::try_from(*number).map_or(ValueRef::Double(nearest(*number)), ValueRef::Int32))
            }
            (Self::Number(number), None | Some(EdmType::Double)) => Some(ValueRef::Double(*number)),
            (Self::Integer(number), Some(EdmType::Double)) => Some(ValueRef::Double(nearest(*number))),
            (Self::Text(text), Some(EdmType::Double)) => special(text).map(ValueRef::Double),
            (Self::Text(text), Some(EdmType::Int64)) => text.parse().ok().map(ValueRef::Int64),
            (_, Some(EdmType::Int64)) => self.integral().map(ValueRef::Int64),
            (_, Some(EdmType::Int32)) => {
                self.integral().and_then(|number| i32::try_from(number).ok()).map(ValueRef::Int32)
            }
            (Self::Text(text), Some(EdmType::DateTime)) => instant(name, text)?.map(ValueRef::DateTime),
            (Self::Text(text), Some(EdmType::Guid)) => guid(text).map(ValueRef::Guid),
            (Self::Text(text), Some(EdmType::Binary)) => {
                buffer.clear();
                STANDARD.decode_vec(text.as_ref(), buffer).ok().map(|()| ValueRef::Binary(buffer))
            }
            (_, Some(_)) => None,
        };
        let Some(value) = value else {
            return Err(Error::of(ODataFault::Value(edm)).with_property(name));
        };
        Ok(Some(value))
    }

    /// The number if it is integral in value, whatever its spelling, and exact (ENG-10).
    fn integral(&self) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match *self {
            Self::Integer(number) => Some(number),
            #[expect(clippy::cast_possible_truncation, reason = "integral and below 2^53")]
            Self::Number(number) if number.fract() == 0.0 && number.abs() < EXACT => Some(number as i64),
            _ => None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "TYPE-3: an integer read as a Double is the nearest one")]
const fn nearest(number: i64) -> f64 {
    number as f64
}

/// The ticks of an instant; one in the service's own form is read without looking for others.
fn instant(name: &str, text: &str) -> Result<Option<u64>> {
    match ticks::parse(text, ":").filter(|ticks| *ticks >= ticks::EDM_MIN) {
        Some(ticks) => Ok(Some(ticks)),
        None => match DateTime::parse_from_rfc3339(text) {
            Ok(instant) => edm_ticks(name, instant.with_timezone(&Utc)).map(Some),
            Err(_) => Ok(None),
        },
    }
}

fn special(text: &str) -> Option<f64> {
    Some(match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => return None,
    })
}

fn guid(text: &str) -> Option<Uuid> {
    // Other spellings (braces, no hyphens, a URN) are not the service's form.
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// A member's name, borrowed from the document where it has no escapes.
pub(crate) struct Name<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Token::deserialize(deserializer)? {
            Token::Text(name) => Ok(Self(name)),
            _ => Err(D::Error::custom("the name of a member is not a text")),
        }
    }
}
