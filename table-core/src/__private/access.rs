//! Support for `access_patterns!`. This module reads an entity's schema, and performs compile-time checks that the type system cannot express.

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

/// Returns the number of partitions over which the buckets of a key spread its rows. If the key also contains the field from which a bucket is computed, that
/// bucket is ignored.
const fn spread(pieces: &[KeyPiece]) -> usize {
    let (mut partitions, mut at) = (1, 0);
    while at < pieces.len() {
        if let KeyPiece::Field { field, codec, .. } = pieces[at]
            && let Some(buckets) = buckets(codec)
            && !holds(pieces, field)
        {
            partitions = buckets.saturating_mul(partitions);
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

/// Parses the number of buckets at the end of a codec name, such as 16 from `bucket(text,16)`. The digits are read backwards, because the name of the source
/// may also contain digits, for example in the names of enum variants.
const fn buckets(codec: &str) -> Option<usize> {
    let Some((b"bucket(", rest)) = codec.as_bytes().split_first_chunk() else { return None };
    let [digits @ .., b')'] = rest else { return None };
    let (mut number, mut place, mut at) = (0usize, 1usize, digits.len());
    while at > 0 && digits[at - 1].is_ascii_digit() {
        at -= 1;
        number = number.saturating_add(place.saturating_mul((digits[at] - b'0') as usize));
        place = place.saturating_mul(10);
    }
    Some(number)
}

/// Returns the name of the table that a selection reads. This is the index's table if the index has a separate one, and otherwise the entity's table.
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
        let many = "bucket(text,4294967295)";
        assert_eq!(spread(&[part("a", many), part("b", many), part("c", many)]), usize::MAX);
    }

    #[test]
    fn the_number_of_buckets_is_read_from_the_name_of_each_codec() {
        use crate::key::codec::{Bucket, DerivedPart, Digits, Escaped, Hex, KeyEnum, Padded, Variant};

        enum Shelf {}
        impl KeyEnum for Shelf {
            const VARIANTS: &'static [&'static str] = &[
                "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S10", "S11", "S12", "9,99",
                "(7)",
            ];
            fn index(&self) -> usize {
                match *self {}
            }
            fn from_index(_: usize) -> Option<Self> {
                None
            }
        }
        const fn of<P: DerivedPart<T>, T>() -> Option<usize> {
            buckets(P::NAME)
        }
        assert_eq!(of::<Bucket<Variant, 16>, Shelf>(), Some(16));
        assert_eq!(of::<Bucket<Padded, 1_070>, i64>(), Some(1_070));
        assert_eq!(of::<Bucket<Digits<6>, 7>, u32>(), Some(7));
        assert_eq!(of::<Bucket<Hex<8>, 100>, u32>(), Some(100));
        assert_eq!(of::<Bucket<Escaped, 4_294_967_295>, String>(), Some(4_294_967_295));
        assert_eq!((buckets("hash(crc32,8,text)"), buckets("digits(6)")), (None, None));
    }
}
