//! Conversion of a JSON value to its declared type. Without a declared type, the JSON syntax determines the type (TYPE-2, TYPE-3, TYPE-8, TYPE-9).

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::odata::fault::ODataFault;
use crate::ticks;
use crate::value::{EdmType, ValueRef, out_of_range};

/// The only key of a map that represents a number. `serde_json` passes such a map, whose value is the text of the number, if any dependency of the program
/// enables its `arbitrary_precision` feature. 64-bit integers other than `-0` are passed as integers with or without the feature.
const NUMBER: &str = "$serde_json::private::Number";

/// A JSON value. A number's notation determines its variant: `3` is an integer, `3.0` is not (TYPE-3).
#[derive(Debug)]
pub(crate) enum Token<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    /// A number that has a fraction or an exponent, exceeds 64 bits, or is `-0`.
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
        let mut token = Token::Nested;
        while let Some(Name(key)) = members.next_key()? {
            match members.next_value()? {
                Token::Text(text) if key == NUMBER => token = number(&text)?,
                _ => token = Token::Nested,
            }
        }
        Ok(token)
    }
}

impl Token<'_> {
    /// Converts the token to a property value, or to `None` for `null`. A binary value is decoded into `buffer`.
    ///
    /// A string is accepted for every declared type, because some clients send all values as strings.
    ///
    /// # Errors
    /// - `InvalidInput` if the value does not match its type (TYPE-8, TYPE-9, ENG-10).
    /// - `OutOfRangeInput` if a date-time is before 1601 (TYPE-6).
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
            (Self::Text(text), None) => Some(ValueRef::String(text)),
            (Self::Text(text), Some(edm)) => typed_text(name, edm, text, buffer)?,
            (Self::Boolean(flag), None | Some(EdmType::Boolean)) => Some(ValueRef::Boolean(*flag)),
            (Self::Integer(number), None) => {
                Some(i32::try_from(*number).map_or(ValueRef::Double(nearest(*number)), ValueRef::Int32))
            }
            (Self::Number(number), None | Some(EdmType::Double)) => Some(ValueRef::Double(*number)),
            (Self::Integer(number), Some(EdmType::Double)) => Some(ValueRef::Double(nearest(*number))),
            (_, Some(EdmType::Int64)) => self.integral().map(ValueRef::Int64),
            (_, Some(EdmType::Int32)) => {
                self.integral().and_then(|number| i32::try_from(number).ok()).map(ValueRef::Int32)
            }
            (_, Some(_)) => None,
        };
        let Some(value) = value else {
            return Err(Error::of(ODataFault::Value(edm)).with_property(name));
        };
        Ok(Some(value))
    }

    /// Returns the number if it is an exact integer in any notation (ENG-10).
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

/// Parses a string as a value of a declared type. Accepts the formats of .NET's `XmlConvert`, and returns `None` for any other string.
fn typed_text<'v>(
    name: &str,
    edm: EdmType,
    text: &'v str,
    buffer: &'v mut Vec<u8>,
) -> Result<Option<ValueRef<'v>>> {
    Ok(match edm {
        EdmType::String => Some(ValueRef::String(text)),
        EdmType::Int32 => text.parse().ok().map(ValueRef::Int32),
        EdmType::Int64 => text.parse().ok().map(ValueRef::Int64),
        EdmType::Double => double(text).map(ValueRef::Double),
        EdmType::Boolean => boolean(text).map(ValueRef::Boolean),
        EdmType::DateTime => instant(name, text)?.map(ValueRef::DateTime),
        EdmType::Guid => guid(text).map(ValueRef::Guid),
        EdmType::Binary => binary(text, buffer).map(|()| ValueRef::Binary(buffer)),
    })
}

/// Parses the text of a JSON number. 64-bit integers remain exact. The only exception is `-0`, which becomes a floating-point number.
fn number<E: serde::de::Error>(text: &str) -> Result<Token<'static>, E> {
    match text.parse() {
        Ok(number) if text != "-0" => Ok(Token::Integer(number)),
        _ => double(text)
            .filter(|number| number.is_finite())
            .map(Token::Number)
            .ok_or_else(|| E::custom("number out of range")),
    }
}

fn double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" | "INF" => Some(f64::INFINITY),
        "-Infinity" | "-INF" => Some(f64::NEG_INFINITY),
        // Rust's parser also accepts names such as `inf`, which the service rejects.
        _ if text.bytes().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E')) => None,
        _ => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// Parses a Boolean. Also accepts `True`, as printed by .NET, and `1`, as allowed in XML.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Parses a date-time into ticks.
fn instant(name: &str, text: &str) -> Result<Option<u64>> {
    match ticks::read(text) {
        Some(ticks) if ticks < ticks::EDM_MIN => Err(out_of_range(name, &text)),
        found => Ok(found),
    }
}

/// Parses the formats of .NET's `Guid`: with hyphens, in braces or parentheses, or only digits.
fn guid(text: &str) -> Option<Uuid> {
    let bare = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let bare = bare.or_else(|| text.strip_prefix('(')?.strip_suffix(')')).unwrap_or(text);
    match (bare.len(), text.len()) {
        (36, _) | (32, 32) => Uuid::try_parse(bare).ok(),
        _ => None,
    }
}

/// Decodes base64. White space between characters is ignored, as in .NET.
fn binary(text: &str, buffer: &mut Vec<u8>) -> Option<()> {
    buffer.clear();
    if text.contains([' ', '\t', '\r', '\n']) {
        let dense: String = text.split_ascii_whitespace().collect();
        return STANDARD.decode_vec(dense, buffer).ok();
    }
    STANDARD.decode_vec(text, buffer).ok()
}

/// The name of a member, borrowed from the document if it has no escapes.
pub(crate) struct Name<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Token::deserialize(deserializer)? {
            Token::Text(name) => Ok(Self(name)),
            _ => Err(D::Error::custom("the name of a member is not a text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use serde::de::value::{Error, MapDeserializer};

    use super::*;

    /// Deserializes a number that is passed as a map, as `serde_json` does with the `arbitrary_precision` feature.
    fn of_text(text: &str) -> Result<Token<'_>, Error> {
        Token::deserialize(MapDeserializer::new(iter::once((NUMBER, text))))
    }

    #[test]
    fn the_text_of_a_number_is_the_same_token_as_the_number() {
        for text in ["0", "-0", "-0.0", "3", "3.0", "-12.5", "3e0", "1E-7", "2.5e+10", "18446744073709551616"]
        {
            let token: Token<'_> = serde_json::from_str(text).unwrap();
            assert_eq!(format!("{:?}", of_text(text).unwrap()), format!("{token:?}"), "{text}");
        }
        for text in ["1e400", "-1e400"] {
            assert!(serde_json::from_str::<Token<'_>>(text).is_err() && of_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_object_with_other_keys_is_no_number() {
        for members in [vec![("Number", "3")], vec![(NUMBER, "3"), ("A", "3")], vec![]] {
            let token = Token::deserialize(MapDeserializer::<_, Error>::new(members.into_iter())).unwrap();
            assert!(matches!(token, Token::Nested), "{token:?}");
        }
    }
}
