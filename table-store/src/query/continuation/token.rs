//! The string representation of a continuation: unpadded base64url of the following bytes.
//!
//! | bytes | content |
//! | --- | --- |
//! | 1 | version of this layout, 1 |
//! | 1 | 0: a key; 1: a key without a row; 2: a service's text; 3: a service's text without `NextRowKey`; 8: the start of the query; plus 4 if the incarnation follows |
//! | 8 | fingerprint of the query, little-endian |
//! | 4 | optional: incarnation of the table, greater than 0, little-endian |
//! | 4 | length of `NextPartitionKey` in UTF-8 bytes, little-endian |
//! | | `NextPartitionKey`, then `NextRowKey` up to the checksum |
//! | 8 | FNV-1a 64 of all preceding bytes, little-endian |
//!
//! The checksum detects every change of a single character. Such a change affects at most two adjacent bytes, which always changes the FNV-1a hash.
//!
//! The checksum protects against accidental changes, not against forgery. A forged token can only read keys within its query's range.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::fnv::fnv1a64;
use crate::query::continuation::{Continuation, Kind, Position};

const VERSION: u8 = 1;
/// The maximum length of a token. Longer strings are rejected without parsing.
///
/// A token with two keys of 1,024 code units has about 8,200 characters. A token with values from a service's headers is shorter.
const CHARACTERS: usize = 65_536;
/// The number added to the kind if the continuation has an incarnation.
const INCARNATION: u8 = 4;
const KINDS: [(u8, Kind, bool); 5] = [
    (0, Kind::Key, true),
    (1, Kind::Key, false),
    (2, Kind::Service, true),
    (3, Kind::Service, false),
    (8, Kind::Start, false),
];

pub(super) fn write(continuation: &Continuation) -> String {
    let Continuation { kind, query, incarnation, position: Position { partition_key, row_key } } =
        continuation;
    let tag = KINDS.into_iter().find(|(_, known, row)| known == kind && *row == row_key.is_some());
    let more = if *incarnation > 0 { INCARNATION } else { 0 };
    let mut bytes = vec![VERSION, tag.map_or(u8::MAX, |(tag, ..)| tag + more)];
    bytes.extend_from_slice(&query.to_le_bytes());
    if *incarnation > 0 {
        bytes.extend_from_slice(&incarnation.to_le_bytes());
    }
    bytes.extend_from_slice(&u32::try_from(partition_key.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(partition_key.as_bytes());
    bytes.extend_from_slice(row_key.as_deref().unwrap_or_default().as_bytes());
    bytes.extend_from_slice(&fnv1a64(&bytes).to_le_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn read(text: &str) -> Option<Continuation> {
    if text.len() > CHARACTERS {
        return None;
    }
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
    let (content, checksum) = bytes.split_last_chunk()?;
    if fnv1a64(content) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let ([version, tag], content) = content.split_first_chunk()?;
    let has_incarnation = tag & INCARNATION != 0;
    let tag = tag & !INCARNATION;
    let (_, kind, has_row) = KINDS.into_iter().find(|(known, ..)| *known == tag && *version == VERSION)?;
    let (query, content) = content.split_first_chunk()?;
    let (incarnation, content) =
        if has_incarnation { content.split_first_chunk()? } else { (&[0; 4], content) };
    let incarnation = u32::from_le_bytes(*incarnation);
    if has_incarnation && incarnation == 0 {
        return None;
    }
    let (length, content) = content.split_first_chunk()?;
    let (partition_key, row_key) =
        content.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    if !has_row && !row_key.is_empty() || kind == Kind::Start && !partition_key.is_empty() {
        return None;
    }
    let own = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let row_key = if has_row { Some(own(row_key)?) } else { None };
    let position = Position { partition_key: own(partition_key)?, row_key };
    Some(Continuation { kind, query: u64::from_le_bytes(*query), incarnation, position })
}
