//! JSON indentation that preserves every token: numbers keep their digits, and objects keep their key order and repeated keys.

use serde::de::IgnoredAny;

/// The maximum indentation level.
const LEVELS: usize = 32;

/// Indents JSON, with one value per line.
///
/// # Errors
/// The position and the reason, if the text is not valid JSON.
pub(crate) fn indented(text: &str) -> serde_json::Result<String> {
    serde_json::from_str::<IgnoredAny>(text)?;
    let mut shown = String::with_capacity(text.len());
    let mut level: usize = 0;
    let mut rest = text.chars().peekable();
    let line = |shown: &mut String, level: usize| {
        shown.push('\n');
        shown.extend(std::iter::repeat_n("  ", level.min(LEVELS)));
    };
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => {}
            '"' => {
                shown.push('"');
                while let Some(inside) = rest.next() {
                    shown.push(inside);
                    match inside {
                        '\\' => shown.extend(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                shown.push(character);
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = rest.next_if(|next| matches!(next, '}' | ']')) {
                    shown.push(end);
                } else {
                    level += 1;
                    line(&mut shown, level);
                }
            }
            '}' | ']' => {
                level = level.saturating_sub(1);
                line(&mut shown, level);
                shown.push(character);
            }
            ',' => {
                shown.push(',');
                line(&mut shown, level);
            }
            ':' => shown.push_str(": "),
            other => shown.push(other),
        }
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_indented_and_never_changed() {
        for (text, expected) in [
            ("{\"id\":36893488147419103233}", "{\n  \"id\": 36893488147419103233\n}"),
            ("[1.10, 1e400,-0]", "[\n  1.10,\n  1e400,\n  -0\n]"),
            ("{\"b\":1,\"a\":2,\"a\":3}", "{\n  \"b\": 1,\n  \"a\": 2,\n  \"a\": 3\n}"),
            (" { } ", "{}"),
            ("[ [ ] , {\n} ]", "[\n  [],\n  {}\n]"),
            (r#""a\"{,}\\" "#, r#""a\"{,}\\""#),
            ("null", "null"),
        ] {
            assert_eq!(indented(text).unwrap(), expected, "{text}");
        }
        for text in ["", "{", "[1,]", "{\"a\":1}x", "NaN"] {
            assert!(indented(text).is_err(), "{text}");
        }
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(indented(&deep).unwrap().len() < 200 * 80);
    }
}
