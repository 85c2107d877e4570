//! The content of a list blob: a line with the format version, followed by sorted lines of JSON.
//!
//! | line | content |
//! |---|---|
//! | 1 | `tables list 1`: the file type and the format version |
//! | 2 | `["LastNames","Jones","all"]`: the table, the `PartitionKey` and the `RowKey` of the entity that references the blob |
//! | other lines | `["Sales","000152"]`: the `PartitionKey` and the `RowKey` of one member, in key order, each once |
//!
//! Each line ends with a line feed. A space at the beginning of line 2 [marks](crate::index::mark) the list. The entity stores the length and the checksum of
//! the content.

use std::collections::BTreeSet;

use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::{Error, Result};

use crate::index::list::fault::{Content, ListFault};

const FIRST: &str = "tables list 1";

/// Encodes the members of a list. `list` is the key of the entity that refers to the blob.
pub(crate) fn encode<'k>(
    table: &TableName,
    list: &EntityKey,
    (owners, is_marked): (impl Iterator<Item = &'k EntityKey>, bool),
) -> Vec<u8> {
    let mut text = format!("{FIRST}\n{}", if is_marked { " " } else { "" });
    let mut line = |texts: &[&str]| {
        text.push_str(&serde_json::json!(texts).to_string());
        text.push('\n');
    };
    line(&[table.as_str(), list.partition_key.as_str(), list.row_key.as_str()]);
    for owner in owners {
        line(&[owner.partition_key.as_str(), owner.row_key.as_str()]);
    }
    text.into_bytes()
}

/// Decodes a list. Returns its members, and `true` if the list is marked.
///
/// # Errors
/// `Corrupted` if the content is not a list, or belongs to a different entity; `FormatTooNew` if its format version is newer.
pub(crate) fn decode(
    bytes: &[u8],
    table: &TableName,
    list: &EntityKey,
) -> Result<(BTreeSet<EntityKey>, bool)> {
    let (of, lines, is_marked) = head(bytes)?;
    if of != (table.clone(), list.clone()) {
        return Err(corrupted(Content::OtherList { table: of.0, key: of.1 }));
    }
    let mut owners = BTreeSet::new();
    for line in lines {
        let owner = parse_key(line).ok_or_else(|| corrupted(Content::Line))?;
        if owners.last().is_some_and(|last| *last >= owner) {
            return Err(corrupted(Content::Order));
        }
        owners.insert(owner);
    }
    Ok((owners, is_marked))
}

/// Returns the table and the key of the entity that refers to the blob.
///
/// # Errors
/// Any error from [`decode`].
#[cfg(feature = "blobs")]
pub(crate) fn place(bytes: &[u8]) -> Result<(TableName, EntityKey)> {
    head(bytes).map(|(of, ..)| of)
}

fn head(bytes: &[u8]) -> Result<((TableName, EntityKey), impl Iterator<Item = &str>, bool)> {
    let text = str::from_utf8(bytes).map_err(|_| corrupted(Content::Text))?;
    let mut lines = text.strip_suffix('\n').ok_or_else(|| corrupted(Content::End))?.split('\n');
    match lines.next() {
        Some(FIRST) => {}
        Some(first) if first.starts_with("tables list ") => {
            return Err(Error::of(ListFault::TooNew { found: first.to_owned(), known: FIRST }));
        }
        _ => return Err(corrupted(Content::Beginning)),
    }
    let second = lines.next();
    let of = second.and_then(|line| {
        let (table, partition_key, row_key) = serde_json::from_str::<(String, String, String)>(line).ok()?;
        Some((TableName::new(&table).ok()?, EntityKey::new(partition_key, row_key).ok()?))
    });
    let is_marked = second.is_some_and(|line| line.starts_with(' '));
    Ok((of.ok_or_else(|| corrupted(Content::Owner))?, lines, is_marked))
}

fn parse_key(line: &str) -> Option<EntityKey> {
    let (partition_key, row_key) = serde_json::from_str::<(String, String)>(line).ok()?;
    EntityKey::new(partition_key, row_key).ok()
}

fn corrupted(content: Content) -> Error {
    Error::of(ListFault::Content(content))
}

#[cfg(test)]
mod tests;
