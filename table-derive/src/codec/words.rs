//! The words of codecs, one line each.

/// A word that says how a field is written.
pub(crate) struct Word {
    /// As it is written.
    pub(crate) name: &'static str,
    /// The type of the runtime.
    pub(crate) codec: &'static str,
    /// A whole example, for messages.
    pub(crate) form: &'static str,
    /// What stands beside the field.
    pub(super) arguments: &'static [Argument],
    /// Whether it is written around a part, a field or another word, and not a field alone.
    pub(super) around: bool,
    /// Whether texts may have several lengths, though it is not a codec of texts.
    pub(super) varies: bool,
    /// What can be had of it.
    pub(crate) gives: Gives,
}

/// What a part gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    /// The value.
    Value,
    /// The value, a text with prefixes.
    Text,
    /// Less than the value: the field is a property.
    Derived,
    /// Likewise, digits that are spread evenly.
    Hash,
    /// Likewise, one of so many.
    Bucket,
}

/// An argument, which becomes a parameter of the type.
pub(super) enum Argument {
    /// A number from and to.
    Number(u128, u128),
    /// A character.
    Character,
    /// The pattern of a date.
    Pattern,
    /// One of these words, for these tokens; the first may be left out if `true`.
    OneOf(&'static [(&'static str, &'static str)], bool),
}

use Argument::{Character, Number, OneOf, Pattern};
use Gives::{Bucket, Derived, Hash, Text, Value};

const fn word(
    name: &'static str,
    codec: &'static str,
    form: &'static str,
    arguments: &'static [Argument],
) -> Word {
    Word { name, codec, form, arguments, around: false, varies: false, gives: Value }
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
const UNITS: &[(&str, &str)] = &[("millis", "true"), ("seconds", "false")];

/// All of them.
pub(super) const WORDS: &[Word] = &[
    word("digits", "Digits", "digits(6, id)", &[Number(1, 39)]),
    around("desc", "Desc", "desc(at)", &[]),
    Word { gives: Text, ..word("escaped", "Escaped", "escaped(name)", &[]) },
    Word { gives: Text, ..word("without", "Without", "without('_', name)", &[Character]) },
    word("hour", "Hour", "hour(at)", &[]),
    Word { gives: Bucket, ..around("bucket", "Bucket", "bucket(user, 16)", &[Number(2, u32::MAX as u128)]) },
    word("hex", "Hex", "hex(8, id)` or `hex(8, upper, id)", &[Number(1, 32), OneOf(CASES, true)]),
    Word { varies: true, ..word("unpadded", "Unpadded", "unpadded(id)", &[]) },
    word("guid", "GuidAs", "guid(simple, id)", &[OneOf(GUIDS, false)]),
    word("ulid", "Ulid", "ulid(id)", &[]),
    word("pattern", "Pattern", "pattern(\"yyyy-MM-dd\", day)", &[Pattern]),
    word("unix", "Unix", "unix(millis, at)", &[OneOf(UNITS, false)]),
    around(
        "inverted",
        "Inverted",
        "inverted(9223372036854775807, unix(millis, at))",
        &[Number(1, u64::MAX as u128)],
    ),
    Word { gives: Text, ..word("caret", "Caret", "caret(name)", &[]) },
    Word { gives: Text, ..word("percent", "Percent", "percent(name)", &[]) },
    Word { gives: Derived, ..around("truncate", "Truncated", "truncate(hour(at))", &[]) },
    Word {
        gives: Hash,
        ..around(
            "hash",
            "Digest",
            "hash(sha256, 8, user)` or `hash(sha256, 8, upper, user)",
            &[OneOf(HASHES, false), Number(1, 64), OneOf(CASES, true)],
        )
    },
    Word {
        gives: Derived,
        varies: true,
        ..around("folded", "Folded", "folded(lower, email)", &[OneOf(CASES, false)])
    },
    Word { gives: Derived, varies: true, ..around("first", "First", "first(3, name)", &[Number(1, 255)]) },
    Word {
        gives: Derived,
        varies: true,
        ..around("replaced", "Replaced", "replaced('/', '_', path)", &[Character, Character])
    },
];

/// The word of this name.
pub(super) fn find(name: &syn::Ident) -> Option<&'static Word> {
    WORDS.iter().find(|word| name == word.name)
}

/// All words.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = &'static Word> {
    WORDS.iter()
}

/// The words that may stand before a field: `#[digits(6)]`.
pub(crate) fn attributes() -> impl Iterator<Item = &'static Word> {
    WORDS.iter().filter(|word| !word.around)
}
