//! The columns of a grid, one for each property of its rows. The chunks of a long value share one column.

use table_core::schema::ENTITY_TYPE;
use table_core::{EdmType, TableEntity, Value};

/// The maximum number of columns in a grid. An entity's own page shows all properties.
const COLUMNS: usize = 14;

/// A column of a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) edm: EdmType,
    /// `true` if a row stores the value in chunks: `Text`, `Text1` and so on.
    pub(crate) is_chunked: bool,
}

/// Returns the columns for some rows, in the order in which their properties first occur, and the number of columns left out.
pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a TableEntity> + Clone) -> (Vec<Column>, usize) {
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        for (name, value) in row.iter().filter(|(name, _)| *name != ENTITY_TYPE && !is_piece(row, name)) {
            let is_chunked = row.get(&format!("{name}1")).is_some() && is_long(value);
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

/// Returns `true` if a property is a later chunk of a longer value, such as `Text3` of `Text`.
pub(crate) fn is_piece(row: &TableEntity, name: &str) -> bool {
    let base = name.trim_end_matches(|last: char| last.is_ascii_digit());
    base != name && row.get(base).is_some_and(is_long) && row.get(&format!("{base}1")).is_some_and(is_long)
}

fn is_long(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Binary(_))
}

/// Returns a value with all its chunks joined, and the number of chunks.
pub(crate) fn joined(row: &TableEntity, name: &str) -> Option<(Value, usize)> {
    let first = row.get(name)?;
    let pieces: Vec<&Value> = (1..).map_while(|at| row.get(&format!("{name}{at}"))).collect();
    let whole = match first {
        Value::String(text) => Value::String(pieces.iter().fold(text.clone(), |text, piece| match piece {
            Value::String(more) => text + more,
            _ => text,
        })),
        Value::Binary(bytes) => Value::Binary(pieces.iter().fold(bytes.clone(), |mut bytes, piece| {
            if let Value::Binary(more) = piece {
                bytes.extend(more);
            }
            bytes
        })),
        other => return Some((other.clone(), 1)),
    };
    Some((whole, 1 + pieces.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_long_text_are_one_column() {
        let row = TableEntity::new("p", "r").unwrap();
        let row = row.with("Text", "a").with("Text1", "b").with("Text2", "c").with("Age2", 3);
        let (columns, left_out) = of([&row].into_iter());
        let names: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.is_chunked)).collect();
        assert_eq!((names, left_out), (vec![("Text", true), ("Age2", false)], 0));
        assert_eq!(joined(&row, "Text"), Some((Value::from("abc"), 3)));
    }
}
