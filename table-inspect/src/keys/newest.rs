//! Detects keys that sort the newest entity first.

use table_core::TableEntity;
use table_core::schema::{StoredPiece, StoredSchema};

use crate::infer::{self, Codec, Piece};
use crate::keys::{codec, decode};

/// Returns `true` if the row keys of one partition begin with an inverted time, possibly after literals.
///
/// This follows from the stored schema of the first row, or from the keys themselves if no schema is stored.
#[must_use]
pub fn is_newest_first(schemas: &[StoredSchema], rows: &[TableEntity]) -> bool {
    let Some(first) = rows.first() else { return false };
    if let Some(schema) = schemas.iter().find(|schema| decode(schema, first.key()).is_some()) {
        let first_part = schema.row_key.iter().find_map(|piece| match piece {
            StoredPiece::Literal(_) => None,
            StoredPiece::Part { codec, .. } => Some(codec),
        });
        return first_part.is_some_and(|codec| codec::is_descending(codec));
    }
    let keys: Vec<&str> = rows.iter().map(|row| row.key().row_key.as_str()).collect();
    let pieces = infer::pieces(&keys);
    let first_part = pieces.iter().find(|piece| matches!(piece, Piece::Part { .. }));
    matches!(first_part, Some(Piece::Part { codec: Codec::InvertedTicks, .. }))
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
        assert!(is_newest_first(&[], &rows));
        let up: Vec<_> = (0..5_u64).map(|n| row(format!("{:019}", 638_000_000_000_000_000 + n))).collect();
        assert!(!is_newest_first(&[], &up) && !is_newest_first(&[], &[]));
        let schema = "schema 1\nentity E\ntable T\nPartitionKey p text 0..512 ordered legal\nRowKey at desc(ticks) 19 ordered [0-9]\n";
        assert!(is_newest_first(&[schema.parse().unwrap()], &rows[..1]));
    }
}
