//! Converts format strings to key pieces, such as `"empid_{id:06}"` to `"empid_", digits(6, id)`.

use crate::codec::date_format;

/// Splits a format string into literals and fields. An unnamed placeholder represents the field `next`.
pub(crate) fn pieces(text: &str, next: Option<&str>, is_field: impl Fn(&str) -> bool + Copy) -> Vec<String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some((before, inside, after)) = placeholder(rest, is_field) {
        let before = before.strip_suffix('$').unwrap_or(before);
        pieces.extend(quoted(before).into_iter().chain([field_of(inside, next)]));
        rest = after;
    }
    pieces.extend(quoted(rest));
    pieces
}

/// Returns the text before the first placeholder, the content of the placeholder, and the text after it. Returns `None` if `text` contains no placeholder.
pub(crate) fn placeholder(text: &str, is_field: impl Fn(&str) -> bool) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let name = name_of(inside);
    let fills = name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) || is_field(name);
    fills.then_some((before, inside, after))
}

/// Returns `text` as a string literal, with `_` in place of characters that keys cannot contain. Returns `None` if `text` is empty.
fn quoted(text: &str) -> Option<String> {
    let text = text.replace(['#', '/', '\\', '?'], "_");
    (!text.is_empty()).then(|| format!("{text:?}"))
}

/// Returns the name in a placeholder: `id` for both `id:06` and `self.id`.
pub(crate) fn name_of(inside: &str) -> &str {
    let name = inside.split(':').next().unwrap_or_default();
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns the key piece for a placeholder: `id` for `id`, and `digits(6, id)` for `id:06`.
fn field_of(inside: &str, next: Option<&str>) -> String {
    let name = name_of(inside);
    let name =
        if name.starts_with(|first: char| !first.is_ascii_digit()) { name } else { next.unwrap_or("field") };
    let Some((_, spec)) = inside.split_once(':') else { return name.to_owned() };
    if let Some(pattern) = date_format::pattern(spec) {
        return format!("pattern({pattern:?}, {name})");
    }
    let number = spec.trim_start_matches(['#', '0', 'D', 'd', 'X', 'x', '>']).trim_end_matches(['x', 'X']);
    let is_padded = spec.starts_with(['#', '0', 'D', 'd', 'X', 'x']) || spec.starts_with(">0");
    match number.parse::<u8>() {
        Ok(width @ 1..=39) if spec.contains('x') => format!("hex({width}, {name})"),
        Ok(width @ 1..=39) if spec.contains('X') => format!("hex({width}, upper, {name})"),
        Ok(width @ 1..=39) if is_padded => format!("digits({width}, {name})"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_found() {
        let find = |text: &'static str| placeholder(text, |name| name == "id");
        assert_eq!(find("empid_{id}_x"), Some(("empid_", "id", "_x")));
        assert_eq!(find("{}"), Some(("", "", "")));
        assert_eq!(find("{0:D6}"), Some(("", "0:D6", "")));
        assert_eq!(find("{id:06}"), Some(("", "id:06", "")));
        assert_eq!((find("{"), find("{name}"), find("a}b{")), (None, None, None));
    }

    #[test]
    fn a_format_string_is_shown_as_pieces() {
        let shown = |text| pieces(text, None, |name| ["id", "name"].contains(&name)).join(", ");
        assert_eq!(shown("{name}_{id:06}"), r#"name, "_", digits(6, id)"#);
        assert_eq!(shown("e_{0:D4}"), r#""e_", digits(4, field)"#);
        assert_eq!(shown("{id:yyyy-MM-dd}"), r#"pattern("yyyy-MM-dd", id)"#);
        assert_eq!(shown("{id:%H:%M}"), r#"pattern("HH:mm", id)"#);
        assert_eq!(shown("{id:08x}_{id:X4}_{id:8}"), r#"hex(8, id), "_", hex(4, upper, id), "_", id"#);
        assert_eq!(shown("emp_${id}"), r#""emp_", id"#);
        assert_eq!(shown("emp_${self.id}"), r#""emp_", id"#);
        assert_eq!(shown("a{}b{0}c"), r#""a", field, "b", field, "c""#);
        assert_eq!(shown("{id}{"), r#"id, "{""#);
        assert_eq!(shown("EMP#{id}"), r#""EMP_", id"#);
        assert_eq!(pieces("{:06}", Some("id"), |_| false), ["digits(6, id)"]);
    }
}
