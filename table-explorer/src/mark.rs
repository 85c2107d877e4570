//! Marks: the values of the row checkboxes in a grid. In a submitted form, a mark identifies an entity and its version.

use table_core::{ETag, EntityKey, TableEntity};

/// The `id` of the form that owns the checkboxes.
pub(crate) const FORM: &str = "marked";

/// Returns the mark for a row, or `None` if the row has no version.
pub(crate) fn of(row: &TableEntity) -> Option<String> {
    let (partition_key, row_key) = (row.key().partition_key.as_str(), row.key().row_key.as_str());
    Some(ascii(&serde_json::json!([partition_key, row_key, row.etag()?.to_string()]).to_string()))
}

/// Escapes non-ASCII characters in JSON, because some of them could hide text on a page or change its direction.
fn ascii(json: &str) -> String {
    let mut units = [0; 2];
    json.chars().fold(String::with_capacity(json.len()), |text, character| {
        if character.is_ascii() {
            return text + character.encode_utf8(&mut [0; 4]);
        }
        let escapes = character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
        text + &escapes.collect::<String>()
    })
}

/// Parses a mark. Returns `None` if the string is not a mark.
pub(crate) fn parse(text: &str) -> Option<(EntityKey, ETag)> {
    let [partition_key, row_key, etag]: [String; 3] = serde_json::from_str(text).ok()?;
    Some((EntityKey::new(partition_key, row_key).ok()?, ETag::parse(&etag).ok()?))
}

#[cfg(test)]
mod tests {
    use table_core::FromEntity;
    use table_core::query::EntityRef;

    use super::*;

    #[test]
    fn a_mark_names_the_row_and_its_version_in_ascii() {
        let etag = ETag::from_ticks(638_000_000_000_000_000);
        let (key, stored) = ("a\u{202E}\"é", TableEntity::new("a", "b").unwrap().to_row().unwrap());
        let found = EntityRef::new(key, "😀", stored.view()).with_etag(&etag);
        let row = TableEntity::from_entity(found).unwrap();
        let mark = of(&row).unwrap();
        assert!(mark.is_ascii(), "{mark}");
        assert_eq!(parse(&mark), Some((row.key().clone(), etag)));
        assert_eq!(of(&TableEntity::new("a", "b").unwrap()), None);
        assert_eq!((parse("[]"), parse("[\"a\",\"b/\",\"x\"]")), (None, None));
    }
}
