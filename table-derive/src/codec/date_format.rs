//! Converts other libraries' date formats to patterns.

/// The `strftime` units, each with the equivalent unit of a pattern.
const UNITS: [(&str, &str); 10] = [
    ("%Y", "yyyy"),
    ("%m", "MM"),
    ("%d", "dd"),
    ("%H", "HH"),
    ("%M", "mm"),
    ("%S", "ss"),
    ("%3f", "fff"),
    ("%6f", "ffffff"),
    ("%F", "yyyy-MM-dd"),
    ("%T", "HH:mm:ss"),
];

/// Returns the pattern for a date format, such as `yyyy-MM-dd` for `%Y-%m-%d`. Returns a valid pattern unchanged, and `None` for any other string.
pub(crate) fn pattern(format: &str) -> Option<String> {
    let pattern = UNITS.iter().fold(format.to_owned(), |text, (unit, ours)| text.replace(unit, ours));
    let has_unit = ["yyyy", "MM", "dd", "HH", "mm", "ss"].iter().any(|unit| pattern.contains(unit));
    (has_unit && illegal(&pattern).is_none()).then_some(pattern)
}

/// Returns the first character not allowed in a pattern.
pub(super) fn illegal(pattern: &str) -> Option<char> {
    const WORDS: [&str; 15] =
        ["yyyy", "MM", "dd", "HH", "mm", "ss", "f", "-", "_", ":", ".", ",", "T", "Z", " "];
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let after = WORDS.iter().find_map(|word| rest.strip_prefix(word));
        match after.or_else(|| rest.strip_prefix(first).filter(|_| first.is_ascii_digit())) {
            Some(after) => rest = after,
            None => return Some(first),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_patterns() {
        for (format, expected) in [
            ("%Y-%m-%d", Some("yyyy-MM-dd")),
            ("%Y%m%dT%H", Some("yyyyMMddTHH")),
            ("yyyyMMdd", Some("yyyyMMdd")),
            ("%c", None),
            ("06", None),
            ("D6", None),
            ("yyyy-MM-DD", None),
        ] {
            assert_eq!(pattern(format).as_deref(), expected, "{format}");
        }
    }
}
