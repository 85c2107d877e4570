//! Detection of keys that sort entities newest first.

use std::ops::Bound;

use table_core::TableEntity;
use table_core::key::order::after_prefix;
use table_core::query::TextRange;
use table_core::schema::{StoredPiece, StoredSchema};

use crate::infer::{self, Codec, Piece};
use crate::keys::codec;
use crate::keys::split::split;
use crate::reserved::RESERVED;

/// Returns `true` if the rows of a partition in `range` are sorted newest first.
///
/// The keys of all types that can be in the range must start with the same literals and parts. Each of these parts must have a single value in the range. The
/// next part must be an inverted time.
///
/// The structure of the keys comes from the stored schemas. If no schema can have rows in the range, it is inferred from the keys of `rows`, the first rows of
/// the range. Returns `false` if one of `rows` has an unknown type and is neither an index row nor an internal row. Such a row may be newer.
#[must_use]
pub fn is_newest_first(schemas: &[StoredSchema], rows: &[TableEntity], range: &TextRange) -> bool {
    let common = common_prefix(range);
    let within: Vec<_> = schemas.iter().filter(|schema| can_be_within(&schema.row_key, range)).collect();
    let mut entities = rows.iter().filter(|row| !is_derived(schemas, row));
    if within.is_empty() {
        return is_newest_first_by_keys(entities, common);
    }
    let is_known = |row: &TableEntity| within.iter().any(|schema| super::decode(schema, row.key()).is_some());
    let Some(first) = entities.next().filter(|row| is_known(row)) else { return false };
    let mut leading =
        within.iter().map(|schema| leading(&schema.row_key, first.key().row_key.as_str(), common.len()));
    let Some(Some(of_first)) = leading.next() else { return false };
    leading.all(|other| other.as_ref() == Some(&of_first)) && entities.all(is_known)
}

/// Returns `true` if the keys of these rows start with an inverted time. Literals that all keys in the range share may come before it.
fn is_newest_first_by_keys<'a>(rows: impl Iterator<Item = &'a TableEntity>, common: &str) -> bool {
    let keys: Vec<&str> = rows.map(|row| row.key().row_key.as_str()).collect();
    let mut end = 0;
    for piece in infer::pieces(&keys) {
        match piece {
            Piece::Literal(literal) => end += literal.len(),
            Piece::Part { codec, .. } => return codec == Codec::InvertedTicks && end <= common.len(),
        }
    }
    false
}

/// Returns `true` if the range can contain keys with the leading literal of these pieces.
fn can_be_within(pieces: &[StoredPiece], range: &TextRange) -> bool {
    let mut within = match pieces.first() {
        Some(StoredPiece::Literal(literal)) => TextRange::prefix(literal),
        _ => TextRange::ALL,
    };
    within.intersect(range);
    !within.is_empty()
}

/// Returns `true` for internal rows and index rows.
fn is_derived(schemas: &[StoredSchema], row: &TableEntity) -> bool {
    let row_key = row.key().row_key.as_str();
    let is_of_index =
        |schema: &StoredSchema| schema.indexes.iter().any(|index| super::fits(&index.row_key, row_key));
    let is_entity = |schema: &StoredSchema| super::fits(&schema.row_key, row_key);
    row_key.starts_with(RESERVED) || !schemas.iter().any(is_entity) && schemas.iter().any(is_of_index)
}

/// Finds the first part that can have several values in the range. If this part is descending, returns the literals and codecs of all pieces up to and
/// including it.
///
/// `common` is the length in bytes of the prefix that `row_key` shares with all strings in the range. Returns `None` if the part is ascending, if there is no
/// such part, or if `row_key` does not match the pieces.
fn leading<'a>(pieces: &'a [StoredPiece], row_key: &str, common: usize) -> Option<Vec<&'a str>> {
    let mut parts = split(pieces, row_key)?.into_iter();
    let (mut end, mut leading) = (0, Vec::new());
    for piece in pieces {
        match piece {
            StoredPiece::Literal(literal) => {
                end += literal.len();
                leading.push(literal.as_str());
            }
            StoredPiece::Part { codec, form, .. } => {
                end += parts.next().map_or(0, |(_, _, text)| text.len());
                leading.push(codec);
                // Unless the part has a fixed width, other values may start with this value.
                let is_single = if form.is_fixed() { end <= common } else { end < common };
                if !is_single {
                    return codec::counts_down(codec).then_some(leading);
                }
            }
        }
    }
    None
}

/// Returns a common prefix of all strings in the range.
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
    fn a_range_with_several_kinds_of_rows_is_not_newest_first() {
        let alarm = "schema 1\nentity Alarm\ntable Log\nPartitionKey p text 0..512 ordered legal\nRowKey \"alarm_\"\nRowKey at desc(ticks) 19 ordered [0-9]\n";
        let event = alarm.replace("Alarm", "Event").replace("alarm_", "event_");
        let same = alarm.replace("Alarm", "Notice");
        let at = |kind: &str| format!("{kind}_{:019}", ticks::MAX - 638_000_000_000_000_000);
        let rows = [TableEntity::new("web", at("alarm")).unwrap()];
        let schemas =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<StoredSchema>>();
        let both = schemas(&[alarm, &event]);
        assert!(!is_newest_first(&both, &rows, &TextRange::ALL));
        assert!(is_newest_first(&both, &rows, &TextRange::prefix("alarm_")));
        assert!(is_newest_first(&both[..1], &rows, &TextRange::ALL));
        assert!(is_newest_first(&schemas(&[alarm, &same]), &rows, &TextRange::ALL));
        let unknown = [rows[0].clone(), TableEntity::new("web", at("zone")).unwrap()];
        assert!(!is_newest_first(&both[..1], &unknown, &TextRange::ALL));
        let keys: Vec<_> = (0..9_u64)
            .map(|n| format!("alarm_{:019}", ticks::MAX - (638_000_000_000_000_009 - n)))
            .map(|key| TableEntity::new("web", key).unwrap())
            .collect();
        assert!(!is_newest_first(&[], &keys, &TextRange::ALL));
        assert!(is_newest_first(&[], &keys, &TextRange::prefix("alarm_")));
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
