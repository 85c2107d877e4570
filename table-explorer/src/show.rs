//! Formatting of strings and values, so that stored data can neither inject markup nor hide characters.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use chrono::{DateTime, SecondsFormat, Utc};
use maud::{Markup, html};
use table_core::{EdmType, Value};
use table_inspect::value;

/// The maximum number of characters shown in a cell.
const CELL: usize = 96;
/// The maximum number of bytes of a binary value shown in a cell.
const BYTES: usize = 8;

/// Characters that are invisible or change text direction: those with the Unicode properties `Default_Ignorable_Code_Point` and `Bidi_Control`, the line and
/// paragraph separators, and U+FFFC, the first character of the library's internal keys.
const HIDDEN: [RangeInclusive<char>; 19] = [
    '\u{AD}'..='\u{AD}',
    '\u{34F}'..='\u{34F}',
    '\u{61C}'..='\u{61C}',
    '\u{115F}'..='\u{1160}',
    '\u{17B4}'..='\u{17B5}',
    '\u{180B}'..='\u{180F}',
    '\u{200B}'..='\u{200F}',
    '\u{2028}'..='\u{202E}',
    '\u{2060}'..='\u{206F}',
    '\u{3164}'..='\u{3164}',
    '\u{FE00}'..='\u{FE0F}',
    '\u{FEFF}'..='\u{FEFF}',
    '\u{FFA0}'..='\u{FFA0}',
    '\u{FFF0}'..='\u{FFF8}',
    '\u{FFFC}'..='\u{FFFC}',
    '\u{1BCA0}'..='\u{1BCA3}',
    '\u{1D173}'..='\u{1D17A}',
    '\u{E0000}'..='\u{E0FFF}',
    '\u{FFF9}'..='\u{FFFB}',
];

/// Replaces control characters, and characters that hide text or change its direction, with their code points.
pub(crate) fn text(text: &str) -> String {
    let is_hidden = |character: char| {
        character.is_control() && !matches!(character, '\n' | '\t')
            || character >= '\u{AD}' && HIDDEN.iter().any(|range| range.contains(&character))
    };
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a string never fails.
            let _ = write!(shown, "⟨{:04X}⟩", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Returns a stored string as markup, isolated from the surrounding text direction.
pub(crate) fn stored(found: &str) -> Markup {
    html! { bdi { (text(found)) } }
}

/// Returns a raw key as markup, or a label for the empty key.
pub(crate) fn raw_key(key: &str) -> Markup {
    html! { @if key.is_empty() { span.faint { "(empty)" } } @else { (stored(key)) } }
}

/// Returns a time in UTC. The script converts it to the user's time zone.
pub(crate) fn instant(at: DateTime<Utc>) -> Markup {
    let precise = at.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    html! { time datetime=(precise) title=(precise) { (at.format("%Y-%m-%d %H:%M:%S")) } }
}

/// Formats a duration in whole seconds, minutes, hours or days, such as `3 min`.
pub(crate) fn age(time: chrono::Duration) -> String {
    let seconds = time.num_seconds().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Returns a key part's value as markup: formatted as a time if it is one, otherwise as text.
pub(crate) fn part(found: &str) -> Markup {
    match found.parse::<DateTime<Utc>>() {
        Ok(at) if found.len() >= 20 => instant(at),
        _ => html! { @if found.is_empty() { span.faint { "(empty)" } } @else { (stored(found)) } },
    }
}

/// Returns a value as markup, shortened to fit a cell. `link` is the URL of the complete value.
pub(crate) fn cell(found: &Value, link: &str) -> Markup {
    match found {
        Value::String(text) if text.is_empty() => html! { span.faint { "(empty)" } },
        Value::String(text) => cut(text, link),
        Value::Binary(bytes) => html! {
            code.hex { (hex(bytes.get(..BYTES.min(bytes.len())).unwrap_or_default())) @if bytes.len() > BYTES { "…" } }
            " " a.size href=(link) { (size(bytes.len())) }
        },
        Value::DateTime(at) => instant(*at),
        Value::Guid(guid) => html! { code { (guid) } },
        Value::Boolean(truth) => html! { (truth) },
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) => html! { (value::show(found)) },
    }
}

fn cut(found: &str, link: &str) -> Markup {
    let count = found.chars().count();
    let first = found.lines().next().unwrap_or_default();
    if count <= CELL && first.len() == found.len() {
        return stored(found);
    }
    let beginning: String = first.chars().take(CELL - 16).collect();
    html! { (stored(&beginning)) "… " a.size href=(link) { (characters(count)) } }
}

/// Returns the CSS class of a cell, which right-aligns numbers.
pub(crate) const fn class(edm: EdmType) -> &'static str {
    match edm {
        EdmType::Int32 | EdmType::Int64 | EdmType::Double => "num",
        EdmType::Binary | EdmType::Guid => "mono",
        EdmType::String | EdmType::Boolean | EdmType::DateTime => "",
    }
}

/// Returns the name of a type without the `Edm.` prefix.
pub(crate) fn type_name(edm: EdmType) -> &'static str {
    edm.name().trim_start_matches("Edm.")
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let texts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    texts.join(" ")
}

/// Formats a number of bytes, for example as `1.4 KB`.
pub(crate) fn size(bytes: usize) -> String {
    scaled(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// Formats a number of bytes, for example as `1.4 KB`.
pub(crate) fn scaled(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut tenths, mut unit) = (bytes.saturating_mul(10) / 1024, 0);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        (tenths, unit) = (tenths / 1024, unit + 1);
    }
    let unit = UNITS.get(unit).copied().unwrap_or_default();
    if tenths < 100 {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

/// Formats a number of characters, such as `5 characters`.
pub(crate) fn characters(count: usize) -> String {
    count_of(count as u64, "character")
}

/// Formats a number with a noun, such as `1 row` or `1,204 rows`.
pub(crate) fn count_of(count: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        _ if count == 1 => noun.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with('x') => format!("{noun}es"),
        None => format!("{noun}s"),
    };
    format!("{} {plural}", thousands(count))
}

/// Formats a number with commas as thousands separators.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers_are_short() {
        assert_eq!(
            [0, 1023, 1434, 204_800, 5_000_000].map(size),
            ["0 B", "1023 B", "1.4 KB", "200 KB", "4.7 MB"]
        );
        assert_eq!(
            [count_of(1, "entity"), count_of(2, "entity"), count_of(2, "index")],
            ["1 entity", "2 entities", "2 indexes"]
        );
        assert_eq!([7, 1_204, 1_204_881].map(thousands), ["7", "1,204", "1,204,881"]);
    }

    #[test]
    fn ages_are_shown_in_their_largest_unit() {
        let ages = [-5, 0, 119, 120, 7_199, 7_200, 172_800];
        let shown = ages.map(|seconds| age(chrono::Duration::seconds(seconds)));
        assert_eq!(shown, ["0 s", "0 s", "119 s", "2 min", "119 min", "2 h", "2 days"]);
    }

    #[test]
    fn characters_that_hide_or_reverse_text_are_shown_by_number() {
        assert_eq!(text("a\u{202E}b\u{0}\u{FFFC}c"), "a⟨202E⟩b⟨0000⟩⟨FFFC⟩c");
        for hidden in [
            '\u{61C}',
            '\u{AD}',
            '\u{180E}',
            '\u{115F}',
            '\u{3164}',
            '\u{E0001}',
            '\u{E007F}',
            '\u{FE0F}',
            '\u{2028}',
        ] {
            assert_eq!(text(&format!("a{hidden}")), format!("a⟨{:04X}⟩", u32::from(hidden)));
        }
        assert_eq!(text("é—😀日\u{AC00}"), "é—😀日\u{AC00}");
        assert_eq!(text(&"\0".repeat(200_000)), "⟨0000⟩".repeat(200_000));
        assert_eq!(stored("<script>").into_string(), "<bdi>&lt;script&gt;</bdi>");
    }

    #[test]
    fn long_texts_are_cut_with_their_length() {
        let cell = cell(&Value::from("x".repeat(3_000)), "/whole").into_string();
        assert!(cell.contains("3,000 characters") && cell.len() < 300, "{cell}");
    }
}
