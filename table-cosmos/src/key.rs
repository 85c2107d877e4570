//! Converts entity keys to partition keys and item ids. Keys are checked before a request is sent.

use std::borrow::Cow;

use azure_data_cosmos::PartitionKey;
use azure_data_cosmos::models::PartitionKeyValue;
use table_core::{Error, ErrorCode, Result};

/// The terminator after each level in a PartitionKey.
pub(crate) const END: char = '!';
/// The maximum length of an item id, in bytes (LIM-5).
const ID_BYTES: usize = 1_023;
/// The maximum length of a level, in bytes (LIM-4).
const LEVEL_BYTES: usize = 2_048;

/// Returns the levels of a PartitionKey, or `None` if it does not consist of `depth` levels.
pub(crate) fn levels(partition_key: &str, depth: usize) -> Option<Vec<String>> {
    if depth == 1 {
        return Some(vec![partition_key.to_owned()]);
    }
    let levels: Vec<String> = partition_key.strip_suffix(END)?.split(END).map(str::to_owned).collect();
    (levels.len() == depth).then_some(levels)
}

/// Joins levels into a PartitionKey. With a single level, the PartitionKey is the level itself.
pub(crate) fn join(levels: &[String]) -> String {
    match levels {
        [only] => only.clone(),
        levels => join_prefix(levels),
    }
}

/// Returns the common prefix of all `PartitionKey`s that start with the given levels.
pub(crate) fn join_prefix(levels: &[String]) -> String {
    levels.iter().flat_map(|level| [level.as_str(), "!"]).collect()
}

/// Splits a PartitionKey into levels, and checks that an item can be stored under them.
///
/// # Errors
/// - `InvalidInput` if the number of levels is wrong (HPK-36).
/// - `PropertyValueTooLarge` if a level is too long (LIM-4).
pub(crate) fn checked_levels(partition_key: &str, depth: usize) -> Result<Vec<String>> {
    let levels = levels(partition_key, depth).ok_or_else(|| {
        let message = format!(
            "the container has {depth} levels, and the PartitionKey does not consist of {depth} texts that end with `!`; open the store with \
             the levels of the entity (`Options::levels_of`)"
        );
        Error::new(ErrorCode::InvalidInput, message).with_rule("HPK-36")
    })?;
    check_lengths(&levels)?;
    Ok(levels)
}

/// Checks that no level is too long.
///
/// # Errors
/// `PropertyValueTooLarge` if a level is too long (LIM-4).
pub(crate) fn check_lengths(levels: &[String]) -> Result<()> {
    let Some(level) = levels.iter().find(|level| level.len() > LEVEL_BYTES) else { return Ok(()) };
    let message = format!("a level has {} bytes, at most {LEVEL_BYTES} are allowed", level.len());
    Err(Error::new(ErrorCode::PropertyValueTooLarge, message).with_rule("LIM-4"))
}

/// Returns the item id for a RowKey. Ids sort in the same order as `RowKey`s.
///
/// An id cannot be empty. A RowKey can be empty if the last level identifies the entity (HPK-26). Therefore, `!` is prepended to a RowKey that is empty, or
/// that starts with `!` or a lower character. All other `RowKey`s start with a greater character, so the order is preserved. The order also holds for texts
/// with control characters, with which a query may compare a RowKey.
pub(crate) fn id(row_key: &str) -> Cow<'_, str> {
    if row_key.is_empty() || row_key.starts_with(|c| c <= END) {
        Cow::Owned(format!("{END}{row_key}"))
    } else {
        Cow::Borrowed(row_key)
    }
}

/// Returns the RowKey for an item id.
pub(crate) fn row_key(id: &str) -> &str {
    id.strip_prefix(END).unwrap_or(id)
}

/// Rejects a RowKey that cannot be an item id, or whose id would address a different resource.
///
/// An id is a segment of a URL path. The Azure SDK resolves `..` by removing the previous segment. A delete with the RowKey `..` would therefore address the
/// container itself.
pub(crate) fn check_id(row_key: &str) -> Result<()> {
    let why = if matches!(row_key, "." | "..") {
        "is a path segment with a special meaning"
    } else if row_key.contains(['/', '\\', '?', '#']) {
        "contains `/`, `\\`, `?` or `#`"
    } else if row_key.ends_with(char::is_whitespace) {
        "ends with white space"
    } else if id(row_key).len() > ID_BYTES {
        "has more than 1,023 bytes"
    } else {
        return Ok(());
    };
    let message = format!("the RowKey {why}, so it cannot be the id of an item; choose another RowKey");
    Err(Error::new(ErrorCode::OutOfRangeInput, message).with_rule("LIM-5"))
}

/// Converts levels to the Azure SDK's partition key type.
pub(crate) fn partition_key(levels: &[String]) -> Result<PartitionKey> {
    let values: Vec<PartitionKeyValue> = levels.iter().cloned().map(PartitionKeyValue::from).collect();
    PartitionKey::try_from(values).map_err(|error| {
        Error::new(ErrorCode::InvalidInput, "the levels do not form a partition key").with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lim_5_and_wire_5_ids_and_levels_that_address_other_items_are_refused() {
        for id in [".", "..", "a/b", "a\\b", "a?b", "a#b", "a ", "a\u{a0}", &"x".repeat(1024)] {
            assert_eq!(check_id(id).unwrap_err().rule(), Some("LIM-5"), "{id:?}");
        }
        for id in ["", "!", "...", "a b", " a", ".a", "é", "%2e%2e", "a!b", &"x".repeat(1023)] {
            assert!(check_id(id).is_ok(), "{id:?}");
        }
        assert_eq!(checked_levels("a!b!", 2).unwrap(), ["a", "b"]);
        assert_eq!(checked_levels("!!", 2).unwrap(), ["", ""]);
        for (key, depth) in [("a!b!", 3), ("a!b!c!d!", 3), ("a!b", 2), ("", 2), ("a", 2)] {
            assert_eq!(checked_levels(key, depth).unwrap_err().rule(), Some("HPK-36"), "{key}");
        }
        assert_eq!(checked_levels(&"x".repeat(2049), 1).unwrap_err().rule(), Some("LIM-4"));
    }

    #[test]
    fn hpk_26_an_empty_row_key_has_an_id_and_no_two_share_one() {
        for (row_key, expected) in
            [("", "!"), ("!", "!!"), ("!a", "!!a"), (" a", "! a"), ("a", "a"), ("a!", "a!")]
        {
            assert_eq!(id(row_key), expected);
            assert_eq!(super::row_key(expected), row_key);
        }
    }

    #[test]
    fn ord_1_ids_have_the_order_of_row_keys() {
        let ordered = [
            "", "\0", "\u{1}", "\u{1f}b", " ", "  a", " a", "!", "!!", "\"", "0", "a", "a\u{1}", "a ", "a!",
            "b", "é",
        ];
        assert!(ordered.windows(2).all(|pair| pair[0] < pair[1] && id(pair[0]) < id(pair[1])), "{ordered:?}");
    }

    #[test]
    fn levels_are_joined_as_they_were_split() {
        for (key, depth) in [("a!b!c!", 3), ("!!", 2), ("any!thing", 1), ("", 1)] {
            assert_eq!(join(&levels(key, depth).unwrap()), key);
        }
    }
}
