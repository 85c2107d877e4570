//! The codec words, one per line.

/// A word that selects a codec in an attribute, such as `digits`.
pub(crate) struct Word {
    /// The word as written in attributes and keys.
    pub(crate) name: &'static str,
    /// The name of the codec type in the runtime.
    pub(crate) codec: &'static str,
    /// A complete example for messages. Braces enclose the name of a sample field.
    form: &'static str,
    /// The arguments that precede or follow the field.
    pub(super) arguments: &'static [Argument],
    /// `true` if the word may enclose another codec instead of a field.
    pub(super) around: bool,
    /// `true` if encoded values may differ in length although the codec does not encode strings.
    pub(super) varies: bool,
    /// The part of the value that can be recovered from the key.
    pub(crate) output: Output,
}

impl Word {
    /// Returns the example with `field` in place of the sample field, or with the sample field if `field` is `None`.
    pub(crate) fn form(&self, field: Option<&str>) -> String {
        filled(self.form, field)
    }
}

/// Replaces each placeholder such as `{id}` in `form` with `field`, or with the sample name inside the braces if `field` is `None`.
pub(crate) fn filled(form: &str, field: Option<&str>) -> String {
    let mut filled = String::with_capacity(form.len());
    let mut parts = form.split(['{', '}']);
    while let Some(outside) = parts.next() {
        filled.push_str(outside);
        filled.push_str(parts.next().map_or("", |sample| field.unwrap_or(sample)));
    }
    filled
}

/// The part of a value that can be recovered from its encoding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// The complete value.
    Value,
    /// The complete value, as a string that supports prefix queries.
    Text,
    /// Only a part of the value, so the field is also stored as a property.
    Derived,
    /// Only an evenly distributed hash, so the field is also stored as a property.
    Hash,
    /// Only the bucket number, so the field is also stored as a property.
    Bucket,
}

/// An argument of a codec word. It becomes a generic argument of the codec type.
pub(super) enum Argument {
    /// A number within these bounds.
    Number(u128, u128),
    /// A character literal.
    Character,
    /// A date pattern, such as `"yyyyMMdd"`.
    Pattern,
    /// One of several words, each with the tokens that replace it. The flag is `true` if the first word is the default.
    OneOf(&'static [(&'static str, &'static str)], bool),
}

use Argument::{Character, Number, OneOf, Pattern};
use Output::{Bucket, Derived, Hash, Text, Value};

const fn word(
    name: &'static str,
    codec: &'static str,
    form: &'static str,
    arguments: &'static [Argument],
) -> Word {
    Word { name, codec, form, arguments, around: false, varies: false, output: Value }
}

const fn around(
    name: &'static str,
    codec: &'static str,
    form: &'static str,
    arguments: &'static [Argument],
) -> Word {
    Word { around: true, ..word(name, codec, form, arguments) }
}

const CASES: &[(&str, &str)] = &[("lower", "false"), ("upper", "true")];
const GUIDS: &[(&str, &str)] = &[
    ("simple", "'n'"),
    ("simple_upper", "'N'"),
    ("upper", "'D'"),
    ("braced", "'b'"),
    ("braced_upper", "'B'"),
];
const HASHES: &[(&str, &str)] = &[
    ("sha256", "__table::Sha256"),
    ("md5", "__table::Md5"),
    ("crc32", "__table::Crc32"),
    ("fnv1a", "__table::Fnv1a"),
];
/// The number of hexadecimal digits produced by each hash algorithm.
pub(super) const HASH_DIGITS: &[(&str, u8); 4] = &[("sha256", 64), ("md5", 32), ("crc32", 8), ("fnv1a", 16)];
const HASH_FORMS: &[(&str, &str)] =
    &[("lower", "'x'"), ("upper", "'X'"), ("base64url", "'u'"), ("base32", "'b'")];
const SIGNS: &[(&str, &str)] =
    &[("unsigned", ""), ("nonnegative", "__table::NonNegative"), ("signed", "__table::Signed")];
const UNITS: &[(&str, &str)] = &[("millis", "true"), ("seconds", "false")];

/// All codec words.
pub(super) const WORDS: &[Word] = &[
    word("digits", "Digits", "digits(6, {id})", &[Number(1, 39), OneOf(SIGNS, true)]),
    around("desc", "Desc", "desc({at})", &[]),
    Word { output: Text, ..word("escaped", "Escaped", "escaped({name})", &[]) },
    Word { output: Text, ..word("without", "Without", "without('_', {name})", &[Character]) },
    word("hour", "Hour", "hour({at})", &[]),
    word("week", "Week", "week({day})", &[]),
    Word {
        output: Bucket,
        ..around("bucket", "Bucket", "bucket({user}, 16)", &[Number(2, u32::MAX as u128)])
    },
    word("hex", "Hex", "hex(8, {id})` or `hex(8, upper, {id})", &[Number(1, 32), OneOf(CASES, true)]),
    Word { varies: true, ..word("unpadded", "Unpadded", "unpadded({id})", &[]) },
    word("guid", "GuidAs", "guid(simple, {id})", &[OneOf(GUIDS, false)]),
    word("ulid", "Ulid", "ulid({id})", &[]),
    word("pattern", "Pattern", "pattern(\"yyyy-MM-dd\", {day})", &[Pattern]),
    word("unix", "Unix", "unix(millis, {at})", &[OneOf(UNITS, false)]),
    around(
        "inverted",
        "Inverted",
        "inverted(9223372036854775807, unix(millis, {at}))",
        &[Number(1, u64::MAX as u128)],
    ),
    Word { output: Text, ..word("caret", "Caret", "caret({name})", &[]) },
    Word { output: Text, ..word("percent", "Percent", "percent({name})", &[]) },
    Word { varies: true, ..word("bars", "Bars", "bars({name})", &[]) },
    Word { varies: true, ..word("base64", "Base64", "base64({name})", &[]) },
    Word { output: Derived, ..around("truncate", "Truncated", "truncate(hour({at}))", &[]) },
    Word {
        output: Hash,
        ..around(
            "hash",
            "Digest",
            "hash(sha256, 64, {user})` or `hash(sha256, 64, upper, {user})",
            &[OneOf(HASHES, false), Number(1, 64), OneOf(HASH_FORMS, true)],
        )
    },
    Word {
        output: Derived,
        varies: true,
        ..around("folded", "Folded", "folded(lower, {email})", &[OneOf(CASES, false)])
    },
    Word { output: Derived, varies: true, ..around("first", "First", "first(3, {name})", &[Number(1, 255)]) },
    Word {
        output: Derived,
        varies: true,
        ..around("replaced", "Replaced", "replaced('/', '_', {path})", &[Character, Character])
    },
];

/// Returns `true` for a codec word or a codec argument, such as `hour`, `upper` or `sha256`.
pub(super) fn is_word(name: &syn::Ident) -> bool {
    let lists = WORDS.iter().flat_map(|word| word.arguments).filter_map(|argument| match argument {
        OneOf(words, _) => Some(*words),
        Number(..) | Character | Pattern => None,
    });
    find(name).is_some() || lists.flatten().any(|(word, _)| name == word)
}

/// Returns the codec word with this name.
pub(super) fn find(name: &syn::Ident) -> Option<&'static Word> {
    WORDS.iter().find(|word| name == word.name)
}

/// Returns all codec words.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = &'static Word> {
    WORDS.iter()
}

/// Returns the codec words allowed as field attributes, such as `#[digits(6)]`.
pub(crate) fn attributes() -> impl Iterator<Item = &'static Word> {
    WORDS.iter().filter(|word| !word.around)
}
