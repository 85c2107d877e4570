//! The table for human readers. It shows decoded key parts first, then properties, and is truncated to the width of the terminal.

use std::collections::HashMap;
use std::fmt;

use comfy_table::{ContentArrangement, Table, presets};
use table_core::TableEntity;
use table_core::query::Select;

use crate::terminal::Printable;
use table_inspect::kind::{self, Kind, Kinds};
use table_inspect::value;

/// The maximum number of characters of a value shown in a cell.
const CELL: usize = 60;
/// The maximum number of columns shown. In a table that uses values as property names, each row would otherwise add columns.
const COLUMNS: usize = 1_000;

/// Entities formatted as table rows. The columns are in the order in which they first occur.
#[derive(Debug, Default)]
pub struct Grid {
    columns: Vec<Column>,
    /// The position of each column, including columns that are not shown.
    positions: HashMap<Column, usize>,
    /// The cells of each row, with the positions of their columns.
    rows: Vec<Vec<(usize, String)>>,
}

/// A column. A key part and a property with the same name have separate columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Column {
    /// A key, or a part of a key.
    Key(String),
    /// A property.
    Property(String),
}

impl Column {
    fn name(&self) -> &str {
        match self {
            Self::Key(name) | Self::Property(name) => name,
        }
    }
}

impl Grid {
    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if the grid has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds an entity with the properties in `shown`. The parts of its key are shown if a schema declares its kind. Otherwise, or if `kinds` is `None`, the raw
    /// key is shown.
    pub fn push(&mut self, entity: &TableEntity, kinds: Option<&Kinds<'_>>, shown: &Select) {
        let key = entity.key();
        let kind = kinds.map_or(Kind::Unknown, |kinds| kinds.of(entity));
        let keys: Vec<(Column, String)> = match kind::segments(&kind, key) {
            Some(_) => {
                let parts = kind::parts(&kind, key).into_iter();
                parts.map(|part| (Column::Key(part.name), part.value)).collect()
            }
            None => [("PartitionKey", key.partition_key.as_str()), ("RowKey", key.row_key.as_str())]
                .map(|(name, text)| (Column::Key(name.to_owned()), text.to_owned()))
                .to_vec(),
        };
        let properties = entity.iter().filter(|(name, _)| shown.contains(name));
        let properties =
            properties.map(|(name, value)| (Column::Property(name.to_owned()), short(&value::show(value))));
        let keys = keys.into_iter().map(|(column, text)| (column, short(&text)));
        let mut cells = Vec::new();
        for (column, text) in keys.chain(properties) {
            let next = self.positions.len();
            let at = *self.positions.entry(column.clone()).or_insert(next);
            if at < COLUMNS {
                cells.push((at, text));
                if at == self.columns.len() {
                    self.columns.push(column);
                }
            }
        }
        self.rows.push(cells);
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(Column::name).collect();
        let cells = |row: &Vec<(usize, String)>| {
            let mut cells = vec![String::new(); names.len()];
            for (at, text) in row.iter().rev() {
                if let Some(cell) = cells.get_mut(*at) {
                    cell.clone_from(text);
                }
            }
            cells
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        f.write_str(&plain(&names, &rows))?;
        match self.positions.len() - self.columns.len() {
            0 => Ok(()),
            more => writeln!(f, "{more} more columns are not shown; `--output json` shows them"),
        }
    }
}

/// Formats rows of strings as a table. Returns an empty string if `rows` is empty.
#[must_use]
pub(super) fn plain(names: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(names.iter().map(|name| line(name)));
    for row in rows {
        table.add_row(row.iter().map(|cell| line(cell)));
    }
    let text = table.to_string();
    // Each line of the table begins with a space that does not belong to the first cell.
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Truncates a value to the width of a cell, and appends the number of omitted characters.
fn short(value: &str) -> String {
    let count = value.chars().count();
    if count <= CELL {
        return value.to_owned();
    }
    let beginning: String = value.chars().take(CELL - 10).collect();
    format!("{beginning}… (+{})", count - (CELL - 10))
}

/// Returns a string on one line, without control characters.
fn line(text: &str) -> String {
    Printable(text).to_string().replace('\n', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_first_cell_does_not_move_the_other_cells() {
        let mut grid = Grid::default();
        for (partition, row) in [("Sales", "1"), ("", "2"), (" a", "3")] {
            grid.push(&TableEntity::new(partition, row).unwrap().with("Age", 36), None, &Select::All);
        }
        let text = grid.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1].find('1'), lines[2].find('2'), "{text}");
        assert!(lines[3].starts_with(" a "), "{text}");
    }

    #[test]
    fn columns_above_the_limit_are_counted() {
        let mut grid = Grid::default();
        for row in 0..100 {
            let entity = TableEntity::new("p", format!("{row:04}")).unwrap().with("Common", row);
            let entity = (0..50).fold(entity, |entity, at| entity.with(format!("P{row}N{at}"), at));
            grid.push(&entity, None, &Select::All);
        }
        let text = grid.to_string();
        let more = 100 * 50 + 3 - 1_000;
        assert!(text.ends_with(&format!("{more} more columns are not shown; `--output json` shows them\n")));
        assert!(text.contains("0099"), "{}", text.len());
    }

    #[test]
    fn keys_that_a_schema_explains_are_shown_by_their_parts() {
        let schema: table_core::schema::StoredSchema =
            "schema 1\nentity Employee\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
            RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\n"
                .parse()
                .unwrap();
        let mut grid = Grid::default();
        let schemas = [("company".to_owned(), schema)];
        let kinds = Kinds::new("Company", &schemas);
        grid.push(
            &TableEntity::new("Sales", "empid_000223").unwrap().with("Age", 36),
            Some(&kinds),
            &Select::All,
        );
        insta::assert_snapshot!(grid, @r"
        department  id   Age
        Sales       223  36
        ");
    }

    #[test]
    fn control_characters_and_long_values_are_replaced_visibly() {
        let mut grid = Grid::default();
        let entity =
            TableEntity::new("p", "r").unwrap().with("A", "\u{1b}[31mred").with("B", "x".repeat(100));
        grid.push(&entity, None, &Select::All);
        let text = grid.to_string();
        assert!(!text.contains('\u{1b}') && text.contains("(+50)"), "{text}");
    }
}
