//! Determines whether two kinds of rows can be distinguished by their keys.

use table_core::schema::StoredPiece;

use table_inspect::kind::Kind;

/// Returns `true` if [`Kinds`](table_inspect::kind::Kinds) distinguishes rows of the two kinds. The first kind has no `EntityType`.
pub(super) fn are_distinguished(one: &Kind<'_>, other: &Kind<'_>) -> bool {
    let is_typed = matches!(other, Kind::Entity(schema) if schema.kind.is_some());
    let (Some((partition, row)), Some((other_partition, other_row))) = (one.pieces(), other.pieces()) else {
        return true;
    };
    // If two kinds match a key, the one with more literal characters is chosen.
    let literals = |partition, row| literal_length(partition) + literal_length(row);
    is_typed
        || literals(partition, row) != literals(other_partition, other_row)
        || are_disjoint(partition, other_partition)
        || are_disjoint(row, other_row)
}

fn literal_length(pieces: &[StoredPiece]) -> usize {
    pieces.iter().map(|piece| literal(piece).map_or(0, str::len)).sum()
}

/// Returns `true` if no key matches both patterns, because their leading literals conflict or their length ranges do not overlap.
fn are_disjoint(one: &[StoredPiece], other: &[StoredPiece]) -> bool {
    let begin = |pieces: &[StoredPiece]| pieces.first().and_then(literal).unwrap_or_default().to_owned();
    let (begins, (shortest, longest), (other_shortest, other_longest)) =
        ([begin(one), begin(other)], lengths(one), lengths(other));
    let [first, second] = &begins;
    let have_one_begin = first.starts_with(second.as_str()) || second.starts_with(first.as_str());
    !have_one_begin || shortest > other_longest || other_shortest > longest
}

/// Returns the minimum and the maximum length of a key in UTF-16 code units.
fn lengths(pieces: &[StoredPiece]) -> (usize, usize) {
    let lengths = |piece: &StoredPiece| match piece {
        StoredPiece::Literal(literal) => [literal.encode_utf16().count(); 2],
        StoredPiece::Part { form, .. } => [form.min, form.max],
    };
    pieces.iter().map(lengths).fold((0, 0), |(shortest, longest), [min, max]| {
        (shortest.saturating_add(min), longest.saturating_add(max))
    })
}

fn literal(piece: &StoredPiece) -> Option<&str> {
    match piece {
        StoredPiece::Literal(literal) => Some(literal),
        StoredPiece::Part { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use table_core::schema::StoredSchema;

    use super::*;

    #[test]
    fn kinds_are_distinguished_by_literals_lengths_and_types() {
        let digits = |width: u8| format!("RowKey id digits({width}) {width} ordered [0-9]\n");
        let schema = |lines: &str| -> StoredSchema {
            format!("schema 1\nentity E\ntable T\nPartitionKey p text 0..512 ordered legal\n{lines}")
                .parse()
                .unwrap()
        };
        let one = schema(&format!("RowKey \"e_\"\n{}", digits(3)));
        for (other, is_distinguished) in [
            (format!("RowKey \"e_\"\n{}", digits(3)), false),
            (format!("RowKey \"f_\"\n{}", digits(3)), true),
            (format!("RowKey \"e\"\n{}", digits(3)), true),
            (format!("RowKey \"e_\"\n{}", digits(4)), true),
            (format!("{}RowKey \"_e\"\n", digits(3)), false),
            ("RowKey \"e_\"\nRowKey name text 0..512 ordered legal\n".to_owned(), false),
            ("RowKey name text 0..512 ordered legal\n".to_owned(), true),
            (format!("kind F\nRowKey \"e_\"\n{}", digits(3)), true),
        ] {
            let other = schema(&other);
            let found = are_distinguished(&Kind::Entity(&one), &Kind::Entity(&other));
            assert_eq!(found, is_distinguished, "{other}");
        }
    }
}
