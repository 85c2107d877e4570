//! Detects keys that sort the newest entity first.

use std::ops::Bound;

use table_core::TableEntity;
use table_core::key::order::after_prefix;
use table_core::query::TextRange;
use table_core::schema::{StoredPiece, StoredSchema};

use crate::infer::{self, Codec, Piece};
use crate::keys::codec;
use crate::keys::split::split;

/// Returns `true` if the row keys of one partition, all within `range`, begin with an inverted time, possibly after literals and parts of which the range
/// has a single value.
///
/// This follows from the stored schema of the first row, or from the keys themselves if no schema is stored.
#[must_use]
pub fn is_newest_first(schemas: &[StoredSchema], rows: &[TableEntity], range: &TextRange) -> bool {
    let Some(first) = rows.first() else { return false };
    if let Some(schema) = schemas.iter().find(|schema| super::decode(schema, first.key()).is_some()) {
        return is_descending_within(schema, first.key().row_key.as_str(), common_prefix(range).len());
    }
    let keys: Vec<&str> = rows.iter().map(|row| row.key().row_key.as_str()).collect();
    let pieces = infer::pieces(&keys);
    let first_part = pieces.iter().find(|piece| matches!(piece, Piece::Part { .. }));
    matches!(first_part, Some(Piece::Part { codec: Codec::InvertedTicks, .. }))
}

/// Returns `true` if the codec of the first part that continues after the first `common` bytes of the row key is descending.
fn is_descending_within(schema: &StoredSchema, row_key: &str, common: usize) -> bool {
    let mut parts = split(&schema.row_key, row_key).unwrap_or_default().into_iter();
    let mut end = 0;
    for piece in &schema.row_key {
        match piece {
            StoredPiece::Literal(literal) => end += literal.len(),
            StoredPiece::Part { codec, form, .. } => {
                end += parts.next().map_or(0, |(_, _, text)| text.len());
                // Without a fixed width, a longer value can begin like this one.
                let is_single = if form.is_fixed() { end <= common } else { end < common };
                if !is_single {
                    return codec::is_descending(codec);
                }
            }
        }
    }
    false
}

/// Returns a prefix of all strings in the range.
fn common_prefix(range: &TextRange) -> &str {
    let (Bound::Included(lower) | Bound::Excluded(lower)) = &range.lower else { return "" };
    let (Bound::Included(upper) | Bound::Excluded(upper)) = &range.upper else { return "" };
    if after_prefix(lower).as_ref() == Some(upper) {
        return lower;
    }
    let differs = lower.char_indices().zip(upper.chars()).find(|((_, one), other)| one != other);
    lower.get(..differs.map_or(lower.len().min(upper.len()), |((at, _), _)| at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use table_core::ticks;

    use super::*;

    #[test]
    fn ticks_that_count_down_are_recognised_with_and_without_a_schema() {
        let row = |text: String| TableEntity::new("p", text).unwrap();
        let down = |n: u64| format!("{:019}", ticks::MAX - (638_000_000_000_000_000 + n));
        let rows: Vec<_> = (0..5).rev().map(|n| row(down(n))).collect();
        let is_newest_first =
            |schemas: &[StoredSchema], rows: &[TableEntity]| is_newest_first(schemas, rows, &TextRange::ALL);
        assert!(is_newest_first(&[], &rows));
        let up: Vec<_> = (0..5_u64).map(|n| row(format!("{:019}", 638_000_000_000_000_000 + n))).collect();
        assert!(!is_newest_first(&[], &up) && !is_newest_first(&[], &[]));
        let schema = "schema 1\nentity E\ntable T\nPartitionKey p text 0..512 ordered legal\nRowKey at desc(ticks) 19 ordered [0-9]\n";
        assert!(is_newest_first(&[schema.parse().unwrap()], &rows[..1]));
    }

    #[test]
    fn a_part_with_a_single_value_may_precede_the_time() {
        let prices = "schema 1\nentity Price\ntable T\nPartitionKey p text 0..512 ordered legal\nRowKey \"price_\"\nRowKey room digits(4) 4 ordered [0-9]\n\
            RowKey at desc(ticks) 19 ordered [0-9]\n";
        let names = prices.replace("room digits(4) 4 ordered [0-9]", "room text 0..16 ordered legal");
        let row = TableEntity::new("p", "price_00032516065027648446501").unwrap();
        let is_newest_first = |schema: &str, range: &TextRange| {
            is_newest_first(&[schema.parse().unwrap()], std::slice::from_ref(&row), range)
        };
        let between = |lower: &str, upper: &str| TextRange {
            lower: Bound::Included(lower.to_owned()),
            upper: Bound::Excluded(upper.to_owned()),
        };
        for (range, is_single) in [
            (TextRange::ALL, false),
            (TextRange::prefix("price_"), false),
            (TextRange::prefix("price_000"), false),
            (TextRange::prefix("price_0003"), true),
            (TextRange::prefix("price_000325"), true),
            (between("price_00031", "price_00033"), true),
            (between("price_0003", "price_0005"), false),
        ] {
            assert_eq!(is_newest_first(prices, &range), is_single, "{range:?}");
        }
        assert!(!is_newest_first(&names, &TextRange::prefix("price_0003")));
    }
}
