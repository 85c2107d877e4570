//! Converts key parts between their encoded and human-readable values. For example, `000223` becomes `223`, and inverted ticks become a timestamp.

use table_core::key::codec::{Escaped, Form, KeyCodec, Percent, Text, TextCodec};
use table_core::schema::StoredPiece;
use table_core::{Value, ticks};

use crate::error::{Error, Result};
use crate::keys::digits::Digits;
use crate::keys::instant::{show, ticks_of};
use crate::keys::{name_of, stamp};

/// The codecs with a human-readable format. Values of other codecs are shown and entered in encoded form.
enum Known {
    /// An integer with a fixed number of digits.
    Digits(Digits),
    /// A string with escaped separators.
    Escaped,
    /// The ticks of a timestamp, unchanged.
    Ticks,
    /// Inverted ticks: this number minus the ticks of a timestamp. The newest timestamps sort first.
    InvertedTicks(u64),
    /// A log [stamp].
    Stamp,
}

impl Known {
    /// Returns the codec with the given name. Stored schemas use names such as `digits(6)`.
    fn of(name: &str) -> Option<Self> {
        match name {
            "ticks" => return Some(Self::Ticks),
            "desc(ticks)" => return Some(Self::InvertedTicks(ticks::MAX)),
            "escaped" => return Some(Self::Escaped),
            stamp::CODEC => return Some(Self::Stamp),
            _ => {}
        }
        if let Some(inner) = name.strip_prefix("inverted(").and_then(|inner| inner.strip_suffix(",ticks)")) {
            return inner.parse().ok().map(Self::InvertedTicks);
        }
        Digits::of(name).map(Self::Digits)
    }
}

/// Decodes a part to its human-readable value. If the text is not a valid encoding, it is returned unchanged.
#[must_use]
pub fn decode(codec: &str, text: &str) -> String {
    let instant = |ticks: u64| ticks::to_datetime(ticks).map(show);
    let number = text.parse::<u64>().ok();
    let decoded = match (Known::of(codec), number) {
        (Some(Known::Escaped), _) => <Escaped as KeyCodec<String>>::decode(text).ok(),
        (Some(Known::Stamp), _) => stamp::decode(text),
        (Some(Known::Digits(digits)), _) => digits.decode(text),
        (Some(Known::Ticks), Some(number)) => instant(number),
        (Some(Known::InvertedTicks(from)), Some(number)) => from.checked_sub(number).and_then(instant),
        _ => None,
    };
    decoded.unwrap_or_else(|| text.to_owned())
}

/// Encodes a human-readable value.
///
/// # Errors
/// `Condition` if the part cannot have this value.
pub(super) fn encode(piece: &StoredPiece, value: &str) -> Result<String> {
    let StoredPiece::Part { source, codec, form } = piece else { return Ok(String::new()) };
    let refuse = |reason: String| {
        Error::Condition(format!("`{value}` is not a value of the part `{}`: {reason}", name_of(source)))
    };
    let text = match Known::of(codec) {
        Some(Known::Digits(digits)) => {
            digits.encode(value, is_signed(form)).unwrap_or_else(|| value.to_owned())
        }
        Some(Known::Escaped) => {
            let mut text = String::new();
            <Escaped as KeyCodec<String>>::encode(&value.to_owned(), &mut text)?;
            text
        }
        Some(Known::Ticks) => match ticks_of(value) {
            Some(ticks) => format!("{ticks:019}"),
            None => value.to_owned(),
        },
        Some(Known::InvertedTicks(from)) => match ticks_of(value).and_then(|ticks| from.checked_sub(ticks)) {
            Some(count) => format!("{count:0>0$}", form.min),
            None => value.to_owned(),
        },
        Some(Known::Stamp) => stamp::encode(value).unwrap_or_else(|| value.to_owned()),
        _ => value.to_owned(),
    };
    let units = text.encode_utf16().count();
    if !(form.min..=form.max).contains(&units) {
        return Err(refuse(format!(
            "codec `{codec}` writes {} characters, not {units}",
            width(form.min, form.max)
        )));
    }
    if let Some(character) = text.chars().find(|&character| !form.alphabet.contains(character)) {
        return Err(refuse(format!("codec `{codec}` never writes {character:?}")));
    }
    Ok(text)
}

/// Returns the common prefix of all possible encodings of a value.
///
/// If the value is a timestamp and the part is a log stamp, this is the common prefix of all stamps with that timestamp. For any other value, it is the entire
/// encoding.
///
/// # Errors
/// `Condition` if the part cannot have this value.
pub(super) fn beginning(piece: &StoredPiece, value: &str) -> Result<String> {
    let stamps = match piece {
        StoredPiece::Part { codec, .. } if codec == stamp::CODEC => stamp::beginning(value),
        _ => None,
    };
    stamps.map_or_else(|| encode(piece, value), Ok)
}

/// Returns `true` if [`encode_value`] supports the codec.
#[must_use]
pub fn can_encode(codec: &str) -> bool {
    matches!(codec, "text" | "ticks" | "desc(ticks)" | stamp::CODEC)
        || variants(codec).is_some()
        || codec.starts_with("without(")
        || Digits::of(codec).is_some()
}

/// Encodes a stored value for a key part.
///
/// # Errors
/// The reason as a string, if the codec is not supported or cannot encode the value.
pub fn encode_value(codec: &str, form: &Form, value: &Value) -> Result<String, String> {
    let unknown = || format!("codec `{codec}` does not write {}", value.edm_type());
    let text = match (Known::of(codec), value) {
        (Some(Known::Digits(digits)), Value::Int32(_) | Value::Int64(_)) => {
            digits.encode(&crate::value::show(value), is_signed(form)).ok_or_else(unknown)?
        }
        (Some(Known::Ticks), Value::DateTime(at)) => {
            ticks::from_datetime(*at).map(|ticks| format!("{ticks:019}")).ok_or_else(unknown)?
        }
        (Some(Known::InvertedTicks(from)), Value::DateTime(at)) => {
            let left = ticks::from_datetime(*at).and_then(|ticks| from.checked_sub(ticks));
            left.map(|left| format!("{left:0>0$}", form.min)).ok_or_else(unknown)?
        }
        // Index rows store key parts in encoded form, so the text is already the encoding.
        (_, Value::String(text)) if can_encode(codec) && is_variant(codec, text) => text.clone(),
        _ => return Err(unknown()),
    };
    if is_of_form(&text, form) { Ok(text) } else { Err(unknown()) }
}

/// Returns `true` if [`encode_property`] supports the codec.
#[must_use]
pub fn can_encode_property(codec: &str) -> bool {
    can_encode(codec) || encode_text(codec, "").is_some()
}

/// Encodes the value of an entity's property for a key part. Unlike [`encode_value`], it expects that strings are not encoded yet.
///
/// # Errors
/// The reason as a string, if the codec is not supported or cannot encode the value.
pub fn encode_property(codec: &str, form: &Form, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) if encode_text(codec, "").is_some() => encode_text(codec, text)
            .filter(|text| is_of_form(text, form))
            .ok_or_else(|| format!("codec `{codec}` does not write this text")),
        _ => encode_value(codec, form, value),
    }
}

/// Encodes a string with a codec of strings. Returns `None` if the codec is not supported or cannot encode the string.
fn encode_text(codec: &str, text: &str) -> Option<String> {
    let mut encoded = String::new();
    match codec {
        "text" => Text::encode_str(text, &mut encoded).ok()?,
        "escaped" => Escaped::encode_str(text, &mut encoded).ok()?,
        "percent" => Percent::encode_str(text, &mut encoded).ok()?,
        _ => {
            let (case, inner) = codec.strip_prefix("folded(")?.strip_suffix(')')?.split_once(',')?;
            return match case {
                "lower" => encode_text(inner, &text.to_lowercase()),
                "upper" => encode_text(inner, &text.to_uppercase()),
                _ => None,
            };
        }
    }
    Some(encoded)
}

fn is_of_form(text: &str, form: &Form) -> bool {
    let units = text.encode_utf16().count();
    (form.min..=form.max).contains(&units) && text.chars().all(|c| form.alphabet.contains(c))
}

/// Returns the variant names of an enum codec, separated by `|`, or `None` for any other codec.
fn variants(codec: &str) -> Option<&str> {
    codec.strip_prefix("one_of(")?.strip_suffix(')')
}

/// Returns `true` if the text is a variant name of the codec. For a codec that is not an enum codec, always returns `true`.
fn is_variant(codec: &str, text: &str) -> bool {
    variants(codec).is_none_or(|names| names.split('|').any(|name| name == text))
}

/// Returns `true` if the encoding of an integer begins with a sign.
fn is_signed(form: &Form) -> bool {
    form.alphabet.contains('-')
}

/// Returns `true` if greater values have smaller encodings.
#[must_use]
pub(super) fn counts_down(codec: &str) -> bool {
    codec == stamp::CODEC || codec.starts_with("inverted(") || codec.starts_with("desc(")
}

/// Returns `true` if greater human-readable values have smaller encodings. The bounds of a range must then be swapped.
///
/// Returns `false` for a codec without a human-readable format, such as `desc(hex)`, because users enter its values in encoded form.
#[must_use]
pub(super) fn is_descending(codec: &str) -> bool {
    match Known::of(codec) {
        Some(Known::Digits(digits)) => digits.is_descending,
        Some(Known::InvertedTicks(_) | Known::Stamp) => true,
        Some(Known::Escaped | Known::Ticks) | None => false,
    }
}

/// Returns `true` if a prefix of a value is encoded as a prefix of the value's encoding. The codec then supports prefix queries.
#[must_use]
pub(super) fn keeps_prefixes(codec: &str) -> bool {
    matches!(codec, "text" | "caret") || codec.starts_with("without(")
}

/// Returns `true` if human-readable values sort as strings in the same order as their encodings.
///
/// Numbers and timestamps do not. For example, the string `50` sorts before `6`.
#[must_use]
pub fn sorts_as_shown(codec: &str) -> bool {
    matches!(Known::of(codec), None | Some(Known::Escaped)) && !counts_down(codec)
}

fn width(min: usize, max: usize) -> String {
    if min == max { min.to_string() } else { format!("{min} to {max}") }
}

#[cfg(test)]
mod tests {
    use table_core::schema::StoredSchema;

    use super::*;

    fn piece(part: &str) -> StoredPiece {
        let text = format!("schema 1\nentity E\ntable T\nPartitionKey {part}\nRowKey \"r\"\n");
        text.parse::<StoredSchema>().unwrap().partition_key.remove(0)
    }

    #[test]
    fn numbers_and_instants_are_written_as_the_codec_does_and_read_back() {
        let newest = format!("inverted({},ticks)", ticks::MAX);
        for (part, codec, value, text) in [
            ("id digits(6) 6 ordered [0-9]", "digits(6)", "223", "000223"),
            ("at ticks 19 ordered [0-9]", "ticks", "2014-08-22T00:50:32.123Z", "0635442654321230000"),
            (
                &format!("at {newest} 19 ordered [0-9]"),
                &newest,
                "9999-12-31T23:59:59Z",
                "0000000000009999999",
            ),
            ("name text 0..512 ordered legal", "text", "Jones", "Jones"),
            ("id desc(digits(6)) 6 ordered [0-9]", "desc(digits(6))", "31204", "968795"),
            ("email escaped 0..512 ordered legal", "escaped", "ada lovelace", "ada\"wlovelace"),
        ] {
            assert_eq!(encode(&piece(part), value).unwrap(), text);
            assert_eq!(decode(codec, text), value);
        }
    }

    #[test]
    fn a_value_that_the_part_cannot_have_is_refused_with_the_reason() {
        let refused = encode(&piece("id digits(6) 6 ordered [0-9]"), "1234567").unwrap_err().to_string();
        assert_eq!(
            refused,
            "`1234567` is not a value of the part `id`: codec `digits(6)` writes 6 characters, not 7"
        );
        let refused = encode(&piece("id digits(6) 6 ordered [0-9]"), "12345x").unwrap_err().to_string();
        assert_eq!(refused, "`12345x` is not a value of the part `id`: codec `digits(6)` never writes 'x'");
    }

    #[test]
    fn a_foreign_text_is_shown_unchanged() {
        assert_eq!(decode("digits(6)", "abc"), "abc");
        assert_eq!(decode("ticks", "9999999999999999999"), "9999999999999999999");
    }

    #[test]
    fn only_the_names_of_variants_are_values_of_an_enum() {
        let StoredPiece::Part { codec, form, .. } = piece("grade one_of(j|s) 1 ordered [js]") else {
            panic!()
        };
        let encoded = |text: &str| encode_value(&codec, &form, &Value::String(text.to_owned()));
        assert_eq!(encoded("s").as_deref(), Ok("s"));
        assert!(encoded("js").is_err() && encoded("x").is_err());
        let StoredPiece::Part { codec, form, .. } = piece("grade one_of(a|ab|b) 1..2 ordered [ab]") else {
            panic!()
        };
        assert!(encode_value(&codec, &form, &Value::String("ba".to_owned())).is_err());
    }
}
