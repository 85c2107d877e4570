//! The columns of a grid, one for each property of its rows. A long value is stored in several properties (its chunks), which share one column.

use table_core::limits::{BINARY_BYTES, STRING_UNITS};
use table_core::schema::ENTITY_TYPE;
use table_core::{EdmType, TableEntity, Value};

/// The maximum number of chunks in which one value is stored.
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

/// Returns the columns for the given rows, in the order in which the properties first occur, and the number of columns that were left out.
pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a TableEntity> + Clone) -> (Vec<Column>, usize) {
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        for (name, value) in row.iter().filter(|(name, _)| *name != ENTITY_TYPE && !is_piece(row, name)) {
            let is_chunked = pieces(row, name).len() > 1;
            match columns.iter_mut().find(|column| column.name == name) {
                Some(column) => column.is_chunked |= is_chunked,
                None => columns.push(Column { name: name.to_owned(), edm: value.edm_type(), is_chunked }),
            }
        }
    }
    let left_out = columns.len().saturating_sub(COLUMNS);
    columns.truncate(COLUMNS);
    (columns, left_out)
}

/// Returns `true` if a property is the second or a later chunk of a longer value, such as the chunk `Text3` of the value `Text`.
pub(crate) fn is_piece(row: &TableEntity, name: &str) -> bool {
    let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(2);
    (1..=digits).any(|digits| {
        let (base, number) = name.split_at(name.len() - digits);
        number.parse().is_ok_and(|number: usize| {
            number > 0 && name == format!("{base}{number}") && number < pieces(row, base).len()
        })
    })
}

/// Returns the chunks of a value. The first chunk has the name of the value, and only a full chunk is followed by another one. Properties of a program that are
/// named `Address`, `Address1` and `Address2` are therefore three separate values, unless the first two are as long as full chunks.
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

/// Returns `true` if a value is as long as a full chunk, which another chunk may follow. A full text chunk is one code unit shorter if the last code unit would
/// otherwise be half of a character.
fn is_full(value: &Value) -> bool {
    match value {
        Value::Binary(bytes) => bytes.len() == BINARY_BYTES,
        // No character has more code units than bytes.
        Value::String(text) if text.len() + 1 >= STRING_UNITS => {
            (STRING_UNITS - 1..=STRING_UNITS).contains(&text.encode_utf16().count())
        }
        _ => false,
    }
}

/// Joins all chunks of a value. Returns the complete value and the number of chunks.
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
