//! Marks of rows: the values of the boxes in a grid, by which a form names many entities and their versions.

use table_core::{ETag, EntityKey, TableEntity};

/// The identifier of the form to which the boxes belong.
pub(crate) const FORM: &str = "marked";

/// Returns the mark of a row; `None` for a row without a version.
pub(crate) fn of(row: &TableEntity) -> Option<String> {
    let (partition_key, row_key) = (row.key().partition_key.as_str(), row.key().row_key.as_str());
    Some(serde_json::json!([partition_key, row_key, row.etag()?.to_string()]).to_string())
}

/// Parses a mark; `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<(EntityKey, ETag)> {
    let [partition_key, row_key, etag]: [String; 3] = serde_json::from_str(text).ok()?;
    Some((EntityKey::new(partition_key, row_key).ok()?, ETag::parse(&etag).ok()?))
}
