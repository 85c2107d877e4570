//! Query fingerprints, stored in continuations and stable across processes and versions.

use std::ops::Bound;

use crate::fnv::fnv1a64;
use crate::name::TableName;
use crate::query::{Query, Select, TextRange};

/// Returns the 64-bit FNV-1a hash of the following bytes:
///
/// 1. the table's name in lower case (TBL-2);
/// 2. the range of the `PartitionKey`, then the range of the `RowKey`. Each range consists of the lower bound and the upper bound. A bound is one
///    byte, `0` for none, `1` for inclusive, or `2` for exclusive, followed by its string;
/// 3. the filter: one byte `0` for none, or `1` followed by the printed filter;
/// 4. `$select`: one byte `0` for all properties, or `1`, the number of names (4 bytes, little-endian), and the names in the given order.
///
/// Each string is encoded as its length in UTF-8 bytes (4 bytes, little-endian) followed by the bytes. `$top` is not included. A change to this encoding
/// invalidates tokens from earlier versions and requires a new version of the token.
pub(super) fn fingerprint(table: &TableName, query: &Query) -> u64 {
    let mut bytes = Vec::with_capacity(128);
    text(table.folded(), &mut bytes);
    range(&query.keys.partition_key, &mut bytes);
    range(&query.keys.row_key, &mut bytes);
    match &query.filter {
        None => bytes.push(0),
        Some(filter) => {
            bytes.push(1);
            text(&filter.to_string(), &mut bytes);
        }
    }
    match &query.select {
        Select::All => bytes.push(0),
        Select::Names(names) => {
            bytes.push(1);
            length(names.len(), &mut bytes);
            names.iter().for_each(|name| text(name, &mut bytes));
        }
    }
    fnv1a64(&bytes)
}

fn range(range: &TextRange, bytes: &mut Vec<u8>) {
    for bound in [&range.lower, &range.upper] {
        match bound {
            Bound::Unbounded => bytes.push(0),
            Bound::Included(limit) => {
                bytes.push(1);
                text(limit, bytes);
            }
            Bound::Excluded(limit) => {
                bytes.push(2);
                text(limit, bytes);
            }
        }
    }
}

fn text(text: &str, bytes: &mut Vec<u8>) {
    length(text.len(), bytes);
    bytes.extend_from_slice(text.as_bytes());
}

fn length(length: usize, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}
