//! A readable, reversible encoding of keys as segments of blob names. The segments are valid in every blob store.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use table_core::name::TableName;

/// The number of digits of the upload time (in ticks) at the start of the last segment of a blob name.
const BORN: usize = 19;
/// The maximum length of a segment in bytes. [`encode_caseless`] truncates a longer segment and appends a hash.
const LONGEST: usize = 120;
/// The number of bytes before the hash in a truncated segment.
const READABLE: usize = 48;
/// The separator between the text and the hash in a truncated segment. Complete segments do not contain it.
const HASHED: &str = "==";

/// Encodes a string as a segment of limited length. If the segment would be too long, a SHA-256 hash replaces its end.
pub(crate) fn encode_caseless(text: &str) -> String {
    let segment = encode(text);
    if segment.len() <= LONGEST {
        return segment;
    }
    // A segment is ASCII. The truncation may split an escape sequence. This is harmless, because a hashed segment is never decoded.
    let mut hashed = segment.get(..READABLE).unwrap_or_default().to_owned() + HASHED;
    for byte in Sha256::digest(text) {
        let _ = write!(hashed, "{byte:02x}");
    }
    hashed
}

/// Returns `true` if `name` may be the name of an upload for the row with the given PartitionKey and RowKey. The last segments of such a name are the folder
/// for values or lists, the table, the keys, and the upload time.
pub(crate) fn is_upload(name: &str, table: &TableName, keys: [&str; 2]) -> bool {
    let mut segments = name.rsplit('/');
    let mut next = || segments.next().unwrap_or_default();
    let [upload, row_key, partition_key, of, kind] = [next(), next(), next(), next(), next()];
    let is_time = upload.split_once('_').is_some_and(|(time, rest)| {
        time.len() == BORN && time.bytes().all(|digit| digit.is_ascii_digit()) && !rest.is_empty()
    });
    let is_row =
        || [encode, encode_caseless].iter().any(|encode| keys.map(encode) == [partition_key, row_key]);
    is_time && ["blobs", "lists"].contains(&kind) && of == table.folded() && is_row()
}

/// Encodes a string as a segment. Lower-case ASCII letters, digits, `-` and `_` are kept. Every other byte is escaped, for example as `=2E`, and the empty
/// string becomes `=`. Different strings have different segments, even in stores that do not distinguish `a` and `A`.
pub(crate) fn encode(text: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    if text.is_empty() {
        return "=".to_owned();
    }
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            segment.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(segment, "={byte:02X}");
        }
    }
    segment
}

/// Returns `true` if a segment is truncated and ends with a hash.
pub(crate) fn is_hashed(segment: &str) -> bool {
    segment.contains(HASHED)
}

/// Returns the part of a truncated segment before the hash. Returns `None` for any other segment.
pub(crate) fn hashed_beginning(segment: &str) -> Option<&str> {
    segment.split_once(HASHED).map(|(beginning, _)| beginning)
}

/// Returns `true` if a string begins with `prefix`. Only the beginning of the string's segment is given. Returns `None` if it is too short to decide.
pub(crate) fn begins_with(beginning: &str, prefix: &str) -> Option<bool> {
    // Each byte is encoded separately, and the code of one byte never begins with the code of another. Encoding therefore preserves prefixes. The only special
    // case is the empty string.
    let prefix = if prefix.is_empty() { String::new() } else { encode(prefix) };
    let both = beginning.len().min(prefix.len());
    let is_equal = beginning.as_bytes().get(..both) == prefix.as_bytes().get(..both);
    (!is_equal || both == prefix.len()).then_some(is_equal)
}

/// Replaces the escape sequences in a segment. Returns `None` if one of them is invalid.
pub(super) fn unescape(segment: &str) -> Option<String> {
    if segment == "=" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [byte, after @ ..] = rest {
        if *byte != b'=' {
            bytes.push(*byte);
            rest = after;
            continue;
        }
        let [high, low, after @ ..] = after else { return None };
        bytes.push(u8::from_str_radix(str::from_utf8(&[*high, *low]).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
