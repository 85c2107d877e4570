//! Access to the change number in a feed cursor, through the cursor's serialized form.

use serde_json::{Value, json};
use table_patterns::feed::Cursor;

/// Returns the change number in a cursor.
pub(super) fn number(cursor: &Cursor) -> u64 {
    let stored = serde_json::to_value(cursor).unwrap_or_default();
    stored.get("number").and_then(Value::as_u64).unwrap_or_default()
}

/// Returns a cursor for a different change number in the same feed.
pub(super) fn at(cursor: &Cursor, number: u64) -> Cursor {
    let mut stored = serde_json::to_value(cursor).unwrap_or_default();
    if let Some(stored) = stored.get_mut("number") {
        *stored = json!(number);
    }
    serde_json::from_value(stored).unwrap_or_default()
}

/// Serializes a cursor as a string without line breaks.
pub(super) fn text(cursor: &Cursor) -> String {
    serde_json::to_string(cursor).unwrap_or_default()
}

/// Parses the output of [`text`]. Returns `None` if the string is not a cursor.
pub(super) fn parse(text: &str) -> Option<Cursor> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_moves_within_its_feed() {
        let cursor = parse(r#"{"feed":7,"number":250}"#).unwrap();
        assert_eq!((number(&cursor), number(&at(&cursor, 150))), (250, 150));
        assert_eq!(at(&cursor, 150), parse(r#"{"feed":7,"number":150}"#).unwrap());
        assert_eq!(parse(&text(&cursor)), Some(cursor));
        assert_eq!((parse("null"), number(&Cursor::default())), (None, 0));
    }
}
