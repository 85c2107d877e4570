//! Removed properties. Stored rows may still contain them, although the schema no longer declares them.

use std::collections::BTreeMap;

use table_store::EdmType;

use crate::schema::stored::{StoredProperty, StoredSchema};
use crate::schema::token::{Tokens, token};

/// Properties that earlier schemas declare, but the current schema does not. Each property has its last type. A row may contain them until it is replaced.
///
/// The text format has one property on each line: `Note Edm.String`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RemovedProperties(BTreeMap<String, EdmType>);

impl RemovedProperties {
    /// Returns the list of removed properties after the schema `new` has replaced `old`.
    pub(crate) fn after(mut self, old: &StoredSchema, new: &StoredSchema) -> Self {
        self.0.extend(old.properties.iter().map(|property| (property.name.clone(), property.edm)));
        self.0.retain(|name, _| new.properties.iter().all(|property| property.name != *name));
        self
    }

    /// Returns `true` if a property with this stored name was removed.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the stored names of the properties.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Returns the properties. All of them are optional, because rows written after a property was removed lack it.
    pub(super) fn properties(&self) -> Vec<StoredProperty> {
        let property = |(name, edm): (&String, &EdmType)| StoredProperty {
            name: name.clone(),
            edm: *edm,
            optional: true,
        };
        self.0.iter().map(property).collect()
    }

    /// Parses a line and adds its property. Returns `None` if the line is invalid.
    pub(crate) fn read_line(&mut self, line: &str) -> Option<()> {
        let mut tokens = Tokens::new(line);
        let (name, edm) = (tokens.word()?, EdmType::from_name(&tokens.word()?)?);
        if !tokens.is_at_end() {
            return None;
        }
        self.0.insert(name, edm);
        Some(())
    }

    /// Returns a line for each property.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, edm)| format!("{} {edm}", token(name)))
    }
}
