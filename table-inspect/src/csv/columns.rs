//! The columns of a CSV file.

use std::collections::HashMap;

use table_core::TableEntity;

use crate::record::{FileError, Result};

/// The columns that every file contains before the property columns.
pub(super) const KEYS: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

/// The maximum number of properties in a file. Every line has a cell for each property, even if the entity lacks it.
const PROPERTIES: usize = 10_000;

/// The properties that have columns, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    /// The position of each name in `names`.
    known: HashMap<String, usize>,
    /// `true` if a property was not added because the maximum number of columns had been reached.
    has_more: bool,
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

    /// Adds a column for each property of the entity that does not have one yet. The maximum is 10,000 columns.
    pub fn add(&mut self, entity: &TableEntity) {
        for (name, _) in entity.iter() {
            if self.position(name).is_some() {
                continue;
            }
            if self.names.len() < PROPERTIES {
                self.push(name.to_owned());
            } else {
                self.has_more = true;
            }
        }
    }

    /// Checks that every property added so far has a column.
    ///
    /// # Errors
    /// `Refused` if the entities have more than 10,000 properties with different names.
    pub fn check(&self) -> Result<()> {
        if !self.has_more {
            return Ok(());
        }
        let help = "select properties, in `tables export` with `--columns`, or write JSON lines";
        Err(FileError::Refused(format!(
            "the entities have more than {PROPERTIES} properties with different names, and each needs a column; {help}"
        )))
    }

    /// Returns the position of a property's column, or `None` if it does not have one.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.known.get(name).copied()
    }

    /// Returns the names of the properties, in column order.
    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn push(&mut self, name: String) {
        if self.position(&name).is_none() {
            self.known.insert(name.clone(), self.names.len());
            self.names.push(name);
        }
    }
}
