//! The columns of a grid, one per property. A long value is stored in several properties (its chunks), which share one column.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use table_core::limits::{BINARY_BYTES, STRING_UNITS};
use table_core::schema::ENTITY_TYPE;
use table_core::{EdmType, TableEntity, Value};

/// The maximum number of chunks per value.
const CHUNKS: usize = 16;
/// The maximum number of columns in a grid. An entity's own page shows all properties.
const COLUMNS: usize = 14;

/// A column of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) edm: EdmType,
    /// `true` if at least one row stores the value in chunks: `Text`, `Text1` and so on.
    pub(crate) is_chunked: bool,
}

/// Returns the columns for rows, in order of first occurrence, and the number of columns omitted.
pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a TableEntity> + Clone) -> (Vec<Column>, usize) {
    let (mut columns, mut positions) = (Vec::<Column>::new(), Positions(HashMap::new()));
    for row in rows {
        let later = later_pieces(row);
        for (name, value) in row.iter().filter(|(name, _)| *name != ENTITY_TYPE && !later.contains(*name)) {
            let position = positions.of(name);
            if position >= COLUMNS {
                continue;
            }
            let is_chunked = is_full(value) && pieces(row, name).len() > 1;
            match columns.get_mut(position) {
                Some(column) => column.is_chunked |= is_chunked,
                None => columns.push(Column { name: name.to_owned(), edm: value.edm_type(), is_chunked }),
            }
        }
    }
    (columns, positions.0.len().saturating_sub(COLUMNS))
}

/// The positions of names, in order of first occurrence. A hash map is used because a page's rows can have hundreds of thousands of names.
#[derive(Debug)]
struct Positions<N>(HashMap<N, usize>);

impl<N: Eq + Hash> Positions<N> {
    /// Returns the position of a name. A new name gets the next position.
    fn of(&mut self, name: N) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }
}

/// Returns the names of all properties that are a second or later chunk of a value, such as `Text3` of the value `Text`.
pub(crate) fn later_pieces(row: &TableEntity) -> HashSet<String> {
    // An entity has room for only a few full chunks.
    let full = row.iter().filter(|(_, value)| is_full(value));
    let later = full.flat_map(|(name, _)| (1..pieces(row, name).len()).map(move |at| format!("{name}{at}")));
    later.collect()
}

/// Returns the chunks of a value. The first chunk has the name of the value, and only a full chunk is followed by another one. If a program has named three
/// properties `Address`, `Address1` and `Address2`, they are separate values, unless the first two are as long as full chunks.
fn pieces<'a>(row: &'a TableEntity, name: &str) -> Vec<&'a Value> {
    let mut pieces: Vec<&Value> = row.get(name).into_iter().collect();
    while let Some(last) = pieces.last().filter(|last| pieces.len() < CHUNKS && is_full(last))
        && let Some(next) = row.get(&format!("{name}{}", pieces.len()))
        && next.edm_type() == last.edm_type()
    {
        pieces.push(next);
    }
    pieces
}

/// Returns `true` if a value is as long as a full chunk, so another chunk may follow. A full text chunk is one code unit shorter if a surrogate pair would not
/// fit.
fn is_full(value: &Value) -> bool {
    match value {
        Value::Binary(bytes) => bytes.len() == BINARY_BYTES,
        // A character has at most as many code units as bytes, so the code units of a shorter string need not be counted.
        Value::String(text) if text.len() + 1 >= STRING_UNITS => {
            (STRING_UNITS - 1..=STRING_UNITS).contains(&text.encode_utf16().count())
        }
        _ => false,
    }
}

/// Joins a value's chunks. Returns the complete value and the number of chunks.
pub(crate) fn joined(row: &TableEntity, name: &str) -> Option<(Value, usize)> {
    let pieces = pieces(row, name);
    let (first, rest) = pieces.split_first()?;
    let whole = rest.iter().fold((*first).clone(), |whole, piece| match (whole, piece) {
        (Value::String(text), Value::String(more)) => Value::String(text + more),
        (Value::Binary(bytes), Value::Binary(more)) => Value::Binary([&bytes[..], more].concat()),
        (whole, _) => whole,
    });
    Some((whole, pieces.len()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::*;

    #[test]
    fn pieces_of_a_long_text_are_one_column() {
        let row = TableEntity::new("p", "r").unwrap();
        let (full, shorter) = ("a".repeat(STRING_UNITS), "b".repeat(STRING_UNITS - 1));
        let row = row
            .with("Text", full.as_str())
            .with("Text1", shorter.as_str())
            .with("Text2", "c")
            .with("Age2", 3);
        let (columns, left_out) = of([&row].into_iter());
        let names: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.is_chunked)).collect();
        assert_eq!((names, left_out), (vec![("Text", true), ("Age2", false)], 0));
        assert_eq!(joined(&row, "Text"), Some((Value::from(full + &shorter + "c"), 3)));
        // A value whose name ends with a digit can also be stored in chunks.
        let row = TableEntity::new("p", "r").unwrap().with("Scan1", vec![7_u8; BINARY_BYTES]);
        let row = row.with("Scan11", vec![8_u8]).with("Scan111", vec![9_u8]);
        let (columns, _) = of([&row].into_iter());
        let names: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.is_chunked)).collect();
        assert_eq!(names, [("Scan1", true), ("Scan111", false)]);
    }

    /// A name that counts comparisons.
    #[derive(Clone, Copy, Debug)]
    struct Counted<'a>(usize, &'a Cell<usize>);

    impl Hash for Counted<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.1.update(|count| count + 1);
            self.0 == other.0
        }
    }

    impl Eq for Counted<'_> {}

    #[test]
    fn a_name_is_compared_with_few_others() {
        let (count, mut positions) = (Cell::new(0), Positions(HashMap::new()));
        for name in 0..20_000 {
            assert_eq!(positions.of(Counted(name, &count)), name);
        }
        for name in 0..20_000 {
            assert_eq!(positions.of(Counted(name, &count)), name);
        }
        assert!(count.get() < 200_000, "{} comparisons", count.get());
    }

    /// Tests many distinct property names. A linear search would take minutes.
    #[test]
    fn each_row_of_a_page_may_have_its_own_properties() {
        let row = |nth: usize| {
            let row = TableEntity::new("p", format!("{nth}")).unwrap();
            (0..252).fold(row, |row, property| row.with(format!("P{}", nth * 252 + property), 1))
        };
        let rows: Vec<_> = (0..1_000).map(row).collect();
        let (columns, left_out) = of(rows.iter());
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, (0..COLUMNS).map(|nth| format!("P{nth}")).collect::<Vec<_>>());
        assert_eq!(left_out, 252_000 - COLUMNS);
    }

    #[test]
    fn numbered_properties_of_a_program_are_separate_columns() {
        let row = TableEntity::new("p", "r").unwrap().with("Address", "12 High Street");
        let row = row.with("Address1", "Flat 3").with("Address2", "London").with("Phone", vec![1_u8]);
        let row = row.with("Phone1", vec![2_u8]).with("Note", "x".repeat(STRING_UNITS)).with("Note1", 3);
        let (columns, _) = of([&row].into_iter());
        let names: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.is_chunked)).collect();
        let separate = ["Address", "Address1", "Address2", "Phone", "Phone1", "Note", "Note1"];
        assert_eq!(names, separate.map(|name| (name, false)));
        assert_eq!(joined(&row, "Address"), Some((Value::from("12 High Street"), 1)));
    }
}
