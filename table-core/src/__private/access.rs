//! Support for `access_patterns!`: lookups in an entity's schema, and compile-time checks that the type system cannot express.

use crate::query::QueryClass;
use crate::schema::{EntitySchema, IndexSchema, KeyPiece, is_same_text};

use super::message::Message;

/// Fails if `n` in `fanout(n)` is smaller than the number of buckets in the partition key.
///
/// # Panics
/// Panics at compile time if `n` is smaller than the number of buckets.
pub const fn require_fan_out(
    pattern: &str,
    entity: &EntitySchema,
    index: Option<&IndexSchema>,
    ceiling: QueryClass,
) {
    let QueryClass::FanOut(most) = ceiling else { return };
    let partition_key = match index {
        Some(IndexSchema { partition_key: Some(pieces), .. }) => pieces,
        _ => entity.partition_key,
    };
    if spread(partition_key) > most {
        let message = Message::new().with("[T090] the access pattern `").with(pattern).with(
            "` costs more than its ceiling: `fanout(n)` is smaller than the number of buckets of the PartitionKey of `",
        );
        let message = message
            .with(entity.entity)
            .with("`, which a fan-out reads with one request or more each; raise `n`");
        panic!("{}", message.as_str());
    }
}

/// Returns the number of partitions over which the buckets in a key distribute rows. Ignores a bucket if the key also contains the field from which the bucket
/// is computed.
const fn spread(pieces: &[KeyPiece]) -> usize {
    let (mut partitions, mut at) = (1, 0);
    while at < pieces.len() {
        if let KeyPiece::Field { field, codec, .. } = pieces[at]
            && let Some(buckets) = buckets(codec)
            && !holds(pieces, field)
        {
            partitions *= buckets;
        }
        at += 1;
    }
    partitions
}

/// Returns `true` if a piece of the key contains the value of the field `wanted`.
const fn holds(pieces: &[KeyPiece], wanted: &str) -> bool {
    let mut at = 0;
    while at < pieces.len() {
        if let KeyPiece::Field { field, codec, .. } = pieces[at]
            && buckets(codec).is_none()
            && is_same_text(field, wanted)
        {
            return true;
        }
        at += 1;
    }
    false
}

/// Parses the number of buckets from a codec name, such as 16 from `bucket(text,16)`.
const fn buckets(codec: &str) -> Option<usize> {
    let Some((b"bucket(", rest)) = codec.as_bytes().split_first_chunk() else { return None };
    let (mut number, mut at) = (0, 0);
    while at < rest.len() {
        number = match rest[at] {
            b',' => 0,
            digit @ b'0'..=b'9' => number * 10 + (digit - b'0') as usize,
            _ => number,
        };
        at += 1;
    }
    Some(number)
}

/// Returns the name of the table that a selection reads: the table of the index if the index has a separate one, otherwise the entity's table.
#[must_use]
pub const fn table_name(entity: &EntitySchema, index: Option<&'static IndexSchema>) -> &'static str {
    match index {
        Some(IndexSchema { table: Some(table), .. }) => table,
        _ => entity.table,
    }
}

/// Returns the index's name, or `None` if the selection does not read an index.
#[must_use]
pub const fn index_name(index: Option<&'static IndexSchema>) -> Option<&'static str> {
    match index {
        Some(index) => Some(index.name),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::codec::{Alphabet, Form};

    const fn part(field: &'static str, codec: &'static str) -> KeyPiece {
        let form = Form { min: 1, max: 9, ordered: true, alphabet: Alphabet::LEGAL };
        KeyPiece::Field { field, codec, form }
    }

    #[test]
    fn buckets_of_values_outside_the_key_spread_it() {
        assert_eq!(spread(&[KeyPiece::Literal("a_"), part("user", "text")]), 1);
        assert_eq!(spread(&[part("user", "bucket(digits(10),16)")]), 16);
        assert_eq!(spread(&[part("user", "bucket(text,16)"), part("day", "bucket(date,3)")]), 48);
        assert_eq!(
            spread(&[part("user", "bucket(text,16)"), KeyPiece::Literal("_"), part("user", "text")]),
            1
        );
    }
}
