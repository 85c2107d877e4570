//! Suggests codecs for words that users may write in keys, such as method names or other libraries' codecs.

use syn::Ident;

use crate::codec::words::{HASH_DIGITS, filled};

/// Words that users may write instead of a codec, each with the codec to suggest. The sample name in braces is replaced with the actual field name.
const CODECS: &[(&str, &str)] = &[
    ("padded", "write `digits(6, {id})`"),
    ("pad", "write `digits(6, {id})`"),
    ("zero_padded", "write `digits(6, {id})`"),
    ("zero_pad", "write `digits(6, {id})`"),
    ("lpad", "write `digits(6, {id})`"),
    ("width", "write `digits(6, {id})`"),
    ("fixed", "write `digits(6, {id})`"),
    ("reverse", "write `desc({at})`"),
    ("reversed", "write `desc({at})`"),
    ("rev", "write `desc({at})`"),
    ("inverse", "write `desc({at})`"),
    ("descending", "write `desc({at})`"),
    ("newest_first", "write `desc({at})`"),
    ("inverted_ticks", "write `desc({at})`: the ticks, counted down"),
    ("reverse_ticks", "write `desc({at})`: the ticks, counted down"),
    ("reversed_ticks", "write `desc({at})`: the ticks, counted down"),
    ("ticks_desc", "write `desc({at})`: the ticks, counted down"),
    ("asc", "keys sort in ascending order: write the field alone, `{at}`"),
    ("ascending", "keys sort in ascending order: write the field alone, `{at}`"),
    ("lower", "write `folded(lower, {email})`"),
    ("upper", "write `folded(upper, {email})`"),
    ("lowercase", "write `folded(lower, {email})`"),
    ("uppercase", "write `folded(upper, {email})`"),
    ("to_lowercase", "write `folded(lower, {email})`"),
    ("to_uppercase", "write `folded(upper, {email})`"),
    ("concat", "literals and fields are separate pieces: `\"empid_\", {id}`"),
    ("prefix", "literals and fields are separate pieces: `\"empid_\", {id}`"),
    (
        "uuid",
        "write the field alone, `{id}`, for `01234567-89ab-…` with hyphens, or `guid(simple, {id})` without them",
    ),
    ("date", DAY),
    (
        "to_rfc3339",
        "write `{at}`, whose ticks sort like its texts; for the text, write `pattern(\"yyyy-MM-ddTHH:mm:ss.fffffffZ\", {at})`",
    ),
    ("date_naive", DAY),
    ("format", "write `pattern(\"yyyy-MM-dd\", {day})`"),
    ("iso8601", "write `pattern(\"yyyy-MM-ddTHH:mm:ssZ\", {at})`"),
    ("iso", "write `pattern(\"yyyy-MM-ddTHH:mm:ssZ\", {at})`"),
    ("rfc3339", "write `pattern(\"yyyy-MM-ddTHH:mm:ssZ\", {at})`"),
    ("datetime", "write `pattern(\"yyyy-MM-ddTHH:mm:ssZ\", {at})`"),
    ("year", "write `truncate(pattern(\"yyyy\", {at}))`"),
    ("month", "write `truncate(pattern(\"yyyyMM\", {at}))`"),
    ("day", "write `truncate(pattern(\"yyyyMMdd\", {at}))`"),
    ("iso_week", "write `truncate(week({at}))`"),
    ("isoweek", "write `truncate(week({at}))`"),
    ("week_of_year", "write `truncate(week({at}))`"),
    ("yearweek", "write `truncate(week({at}))`"),
    ("minute", "write `truncate(pattern(\"yyyyMMddHHmm\", {at}))`"),
    ("seconds", "write `unix(seconds, {at})`"),
    ("timestamp", "write `unix(seconds, {at})`"),
    ("millis", "write `unix(millis, {at})`"),
    ("ticks", "a `DateTime<Utc>` is written as its ticks by default: `{at}`"),
    ("shard", "write `bucket({user}, 16)`"),
    ("shards", "write `bucket({user}, 16)`"),
    ("partition", "write `bucket({user}, 16)`"),
    ("level", "fields without a literal between them are levels: `#[partition_key(tenant, user)]`"),
    ("nameof", "write the field alone: `{id}`"),
    ("int", "write the field alone, `{id}`, for all digits of its type, or `digits(6, {id})`"),
    ("string", "write the field alone: `{name}`"),
    ("Some", OPTIONAL),
    ("optional", OPTIONAL),
    (
        "base64url",
        "write `base64({name})` or `escaped({name})` for any text, or its hash, `hash(sha256, 43, base64url, {name})`",
    ),
    ("encode", "write `escaped({name})` for any text, or `percent({name})`"),
    ("url_encode", "write `percent({name})`"),
    ("urlencode", "write `percent({name})`"),
    ("trim", "trim the value before it is stored, or write a codec for it: `codec(path::To, {name})`"),
    ("slug", "store the slug as a field, or write a codec for it: `codec(path::To, {name})`"),
    ("computed", "implement `DerivedPart` for a type of yours, and write `derived(path::To, {name})`"),
    ("substring", "write `first(3, {name})`"),
    ("left", "write `first(3, {name})`"),
    ("take", "write `first(3, {name})`"),
    ("last", END),
    ("right", END),
    ("now", MADE),
    ("new_v4", MADE),
    ("now_v7", MADE),
];

const DAY: &str = "write `truncate(pattern(\"yyyy-MM-dd\", {day}))` for the day of an instant, `pattern(\"yyyy-MM-dd\", {day})` for a `NaiveDate`";
const OPTIONAL: &str =
    "a key part is always present; write the field alone, with a type that is not an `Option`";
const END: &str =
    "a key can contain the start of a text: `first(3, {name})`; for its end, store it as a field";
const MADE: &str = "a key is made of fields; create the value together with the entity";

/// Words that users may write instead of a known argument. Each entry contains the codec, the words, the known argument and its meaning. If the known argument
/// is `None`, the help text suggests the type's default codec.
const ARGUMENTS: &[(&str, &[&str], Option<&str>, &str)] = &[
    ("guid", &["n", "N"], Some("simple"), "32 digits without hyphens"),
    ("guid", &["d", "D", "lower", "hyphenated"], None, "digits with hyphens"),
    ("guid", &["b", "B"], Some("braced"), "digits with hyphens in braces"),
    ("unix", &["milliseconds", "ms"], Some("millis"), "milliseconds since 1970"),
    ("unix", &["secs"], Some("seconds"), "seconds since 1970"),
];

/// Returns the help text for a word written instead of a codec.
pub(crate) fn suggested(word: &Ident, field: Option<&str>) -> Option<String> {
    if let Some((hash, digits)) = HASH_DIGITS.iter().find(|(hash, _)| word == hash) {
        let form = format!("hash({hash}, {digits}, {})", field.unwrap_or("user"));
        let is_optional = matches!(*hash, "sha256" | "md5");
        let feature = if is_optional { "; it needs `features = [\"hashes\"]` in Cargo.toml" } else { "" };
        return Some(format!(
            "write `{form}` for all {digits} hexadecimal digits of the hash, or fewer digits{feature}"
        ));
    }
    let help = CODECS.iter().find(|(other, _)| word == other).map(|(_, help)| filled(help, field));
    help.or_else(|| numeric_format(&word.to_string(), field.unwrap_or("id")))
}

/// Returns the help text for a .NET numeric format, such as `D6`, `x8` or `X16`.
fn numeric_format(word: &str, field: &str) -> Option<String> {
    let (letter, width) = word.split_at_checked(1)?;
    let width: u8 = width.parse().ok().filter(|width| (1..=39).contains(width))?;
    Some(match letter {
        "D" | "d" => format!(
            "write `digits({width}, {field})` for a number; an instant alone, `{field}`, is written as its ticks in 19 digits"
        ),
        "x" => format!("write `hex({width}, {field})`"),
        "X" => format!("write `hex({width}, upper, {field})`"),
        _ => return None,
    })
}

/// Returns the help text for a `word` written instead of an argument of `codec`. `field` is `None` for an attribute.
pub(super) fn suggested_form(codec: &str, word: &Ident, field: Option<&str>) -> Option<String> {
    let is_meant = |words: &[&str]| words.iter().any(|other| word == other);
    let (_, _, right, meaning) = ARGUMENTS.iter().find(|(of, words, ..)| *of == codec && is_meant(words))?;
    Some(match (right, field) {
        (Some(right), Some(field)) => format!("write `{codec}({right}, {field})`: {meaning}"),
        (Some(right), None) => format!("write `#[{codec}({right})]`: {meaning}"),
        (None, Some(field)) => format!("write the field alone, `{field}`: {meaning}"),
        (None, None) => format!("remove the attribute: {meaning} are the default"),
    })
}
