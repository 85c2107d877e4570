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
mod tests {
    use proptest::prelude::*;

    use table_core::ErrorCode;

    use super::*;

    fn table() -> TableName {
        TableName::new("LastNames").unwrap()
    }

    fn key(partition_key: &str, row_key: &str) -> EntityKey {
        EntityKey::new(partition_key, row_key).unwrap()
    }

    /// The content of a blob written by an earlier release, which must remain readable.
    const GOLDEN: &str = "tables list 1\n[\"LastNames\",\"O'Neil \\\"Ab\\\"\",\"all\"]\n[\"Marketing\",\"000007\"]\n\
                          [\"Sales\",\"\"]\n[\"Sales\",\"000152\"]\n[\"\u{1F600}\",\"1\"]\n[\"\u{FF21}\",\"1\"]\n";

    #[test]
    fn pat_ix_the_bytes_of_a_list() {
        let list = key("O'Neil \"Ab\"", "all");
        let owners = BTreeSet::from([
            key("Sales", "000152"),
            key("Sales", ""),
            key("\u{FF21}", "1"),
            key("\u{1F600}", "1"),
            key("Marketing", "000007"),
        ]);
        let bytes = encode(&table(), &list, (owners.iter(), false));
        assert_eq!(String::from_utf8(bytes).unwrap(), GOLDEN);
        assert_eq!(decode(GOLDEN.as_bytes(), &table(), &list).unwrap(), (owners.clone(), false));
        let marked = encode(&table(), &list, (owners.iter(), true));
        assert_eq!(marked, GOLDEN.replacen("\n[", "\n [", 1).as_bytes());
        assert_eq!(decode(&marked, &table(), &list).unwrap(), (owners, true));
        assert_eq!(place(GOLDEN.as_bytes()).unwrap(), (table(), list));
    }

    #[test]
    fn an_invalid_list_is_an_error() {
        let list = key("Jones", "all");
        let head = "tables list 1\n[\"LastNames\",\"Jones\",\"all\"]\n";
        for (text, code) in [
            ("", ErrorCode::Corrupted),
            ("tables list 1", ErrorCode::Corrupted),
            ("tables list 1\n", ErrorCode::Corrupted),
            ("tables list 2\n[]\n", ErrorCode::FormatTooNew),
            ("tables list 1\n[\"LastNames\",\"Cao\",\"all\"]\n", ErrorCode::Corrupted),
            ("tables list 1\n[\"Names\",\"Jones\",\"all\"]\n", ErrorCode::Corrupted),
            (&format!("{head}[\"Sales\",\"2\"]\n[\"Sales\",\"1\"]\n"), ErrorCode::Corrupted),
            (&format!("{head}[\"Sales\",\"1\"]\n[\"Sales\",\"1\"]\n"), ErrorCode::Corrupted),
            (&format!("{head}[\"Sales\",\"1\"]"), ErrorCode::Corrupted),
            (&format!("{head}[\"Sales\"]\n"), ErrorCode::Corrupted),
            (&format!("{head}\n"), ErrorCode::Corrupted),
        ] {
            assert_eq!(decode(text.as_bytes(), &table(), &list).unwrap_err().code(), code, "{text:?}");
        }
        assert!(decode(head.as_bytes(), &table(), &list).unwrap().0.is_empty());
        assert_eq!(decode(&[0xff], &table(), &list).unwrap_err().code(), ErrorCode::Corrupted);
    }

    proptest! {
        #[test]
        fn any_keys_round_trip(pairs in prop::collection::btree_set(("\\PC{0,6}", "[ -~é]{0,6}"), 0..30)) {
            let legal = |(partition_key, row_key): (String, String)| EntityKey::new(partition_key, row_key).ok();
            let owners: BTreeSet<_> = pairs.into_iter().filter_map(legal).collect();
            let list = key("", "all");
            let bytes = encode(&table(), &list, (owners.iter(), false));
            prop_assert_eq!(decode(&bytes, &table(), &list).unwrap(), (owners, false));
        }

        #[test]
        fn reading_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), at in 0..GOLDEN.len()) {
            let list = key("O'Neil \"Ab\"", "all");
            let _ = decode(&bytes, &table(), &list);
            let mut golden = GOLDEN.as_bytes().to_vec();
            golden.truncate(at);
            prop_assert!(decode(&golden, &table(), &list).is_err() || golden.ends_with(b"\n"));
            golden.extend(bytes);
            let _ = decode(&golden, &table(), &list);
        }
    }
}
