//! The columns of a CSV file.

use std::collections::HashSet;

use table_core::TableEntity;

/// The columns before the property columns, present in every file.
pub(super) const KEYS: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

/// The property columns, in insertion order.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    known: HashSet<String>,
}

impl Columns {
    /// Creates columns for the given properties. The keys and the Timestamp always have columns, so their names are ignored.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut columns = Self::default();
        names
            .into_iter()
            .map(Into::into)
            .filter(|name| !KEYS.contains(&name.as_str()))
            .for_each(|name| columns.push(name));
        columns
    }

    /// Creates columns for all properties of the given entities.
    pub fn of<'a>(entities: impl IntoIterator<Item = &'a TableEntity>) -> Self {
        let mut columns = Self::default();
        entities.into_iter().for_each(|entity| columns.add(entity));
        columns
    }

    /// Adds columns for those properties of an entity that have none yet.
    pub fn add(&mut self, entity: &TableEntity) {
        for (name, _) in entity.iter() {
            if !self.has(name) {
                self.push(name.to_owned());
            }
        }
    }

    /// Returns `true` if a property has a column.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Returns the names of the properties, in column order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn push(&mut self, name: String) {
        if self.known.insert(name.clone()) {
            self.names.push(name);
        }
    }
}
