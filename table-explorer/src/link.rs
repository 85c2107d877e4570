//! Page URLs.

use table_core::{EntityKey, TableName};

/// Returns a page's URL with query parameters.
pub(crate) fn to(path: &str, query: &[(impl AsRef<str>, impl AsRef<str>)]) -> String {
    if query.is_empty() {
        return path.to_owned();
    }
    let start = format!("{path}?");
    let length = start.len();
    let mut pairs = form_urlencoded::Serializer::for_suffix(start, length);
    pairs.extend_pairs(query);
    pairs.finish()
}

/// Returns the URL of a table's page, or of the table itself if `page` is empty.
pub(crate) fn table(table: &TableName, page: &str) -> String {
    if page.is_empty() { format!("/t/{table}") } else { format!("/t/{table}/{page}") }
}

/// Returns the URL of a partition.
pub(crate) fn partition(name: &TableName, partition_key: &str) -> String {
    to(&table(name, "p"), &[("pk", partition_key)])
}

/// Returns the URL of an entity.
pub(crate) fn entity(name: &TableName, key: &EntityKey) -> String {
    entity_page(name, "e", key)
}

/// Returns the URL of a page for an entity.
pub(crate) fn entity_page(name: &TableName, page: &str, key: &EntityKey) -> String {
    to(&table(name, page), &[("pk", key.partition_key.as_str()), ("rk", key.row_key.as_str())])
}

/// Returns the URL of one value of an entity.
pub(crate) fn value(name: &TableName, key: &EntityKey, property: &str, form: &str) -> String {
    let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
    to(&table(name, "v"), &[("pk", partition_key), ("rk", row_key), ("name", property), ("as", form)])
}
