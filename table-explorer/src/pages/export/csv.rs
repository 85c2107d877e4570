//! CSV with a column of types for each property: `PartitionKey,RowKey,Timestamp,Age,Age@type`, the form of Storage Explorer.

use std::collections::HashSet;

use table_core::TableEntity;
use table_inspect::value;

/// The suffix of a column that contains types.
const TYPE: &str = "@type";
const KEYS: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

/// The properties that have columns, in the order in which they first appear.
#[derive(Debug, Default)]
pub(super) struct Columns {
    names: Vec<String>,
    known: HashSet<String>,
}

impl Columns {
    /// Creates columns for some properties; the keys and the time have columns without being named.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut columns = Self::default();
        names.filter(|name| !KEYS.contains(name)).for_each(|name| columns.push(name));
        columns
    }

    /// Adds columns for the properties of an entity.
    pub(super) fn add(&mut self, entity: &TableEntity) {
        entity.iter().for_each(|(name, _)| self.push(name));
    }

    fn push(&mut self, name: &str) {
        if self.known.insert(name.to_owned()) {
            self.names.push(name.to_owned());
        }
    }

    pub(super) fn header(&self) -> String {
        let properties = self.names.iter().flat_map(|name| [name.clone(), format!("{name}{TYPE}")]);
        record(KEYS.map(str::to_owned).into_iter().chain(properties))
    }

    /// Returns the line of an entity. An absent property has an empty value and an empty type; an empty text has a type.
    pub(super) fn line(&self, entity: &TableEntity) -> String {
        let timestamp = entity.timestamp().map(|at| value::show(&at.into())).unwrap_or_default();
        let (partition_key, row_key) = (&entity.key().partition_key, &entity.key().row_key);
        let keys = [partition_key.as_str().to_owned(), row_key.as_str().to_owned(), timestamp];
        let cells = self.names.iter().flat_map(|name| match entity.get(name) {
            Some(found) => [value::show(found), found.edm_type().name().to_owned()],
            None => [String::new(), String::new()],
        });
        record(keys.into_iter().chain(cells))
    }
}

/// Returns a line of cells, each in quotes if its text needs them.
fn record(cells: impl Iterator<Item = String>) -> String {
    let quoted = |cell: String| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell
        }
    };
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_columns_of_all_entities_and_quotes_where_needed() {
        let one = TableEntity::new("Sales", "1").unwrap().with("Age", 36).with("Text", "a \"b\", c\nd");
        let other = TableEntity::new("Sales", "2").unwrap().with("Text", "").with("Big", 7_i64);
        let mut columns = Columns::default();
        columns.add(&one);
        columns.add(&other);
        assert_eq!(
            columns.header(),
            "PartitionKey,RowKey,Timestamp,Age,Age@type,Text,Text@type,Big,Big@type\n"
        );
        assert_eq!(columns.line(&one), "Sales,1,,36,Edm.Int32,\"a \"\"b\"\", c\nd\",Edm.String,,\n");
        assert_eq!(columns.line(&other), "Sales,2,,,,,Edm.String,7,Edm.Int64\n");
        assert_eq!(
            Columns::new(["RowKey", "Age"].into_iter()).header(),
            "PartitionKey,RowKey,Timestamp,Age,Age@type\n"
        );
    }
}
