//! A cache of opened containers.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use azure_data_cosmos::clients::ContainerClient;
use table_core::TableName;

use crate::mapping::Mapping;
use crate::unique::UniqueKeys;

/// The opened containers, by lower-case table name and then by the spelling that the program used. If the names of two containers differ only in case, each
/// spelling always selects the same container.
#[derive(Default)]
pub(crate) struct Containers(RwLock<HashMap<String, HashMap<String, Container>>>);

/// An opened container, its identity, its mapping and its unique keys.
#[derive(Clone)]
pub(crate) struct Container {
    pub(crate) client: ContainerClient,
    /// The number that identifies the container, as in [`item::incarnation`](crate::item::incarnation). It is `None` if the properties have no valid resource
    /// id.
    pub(crate) incarnation: Option<u32>,
    pub(crate) mapping: Arc<Mapping>,
    pub(crate) unique_keys: Arc<UniqueKeys>,
}

impl Containers {
    pub(crate) fn get(&self, table: &TableName) -> Option<Container> {
        let opened = self.0.read().unwrap_or_else(PoisonError::into_inner);
        opened.get(table.folded())?.get(table.as_str()).cloned()
    }

    pub(crate) fn put(&self, table: &TableName, container: Container) {
        let mut opened = self.0.write().unwrap_or_else(PoisonError::into_inner);
        opened.entry(table.folded().to_owned()).or_default().insert(table.as_str().to_owned(), container);
    }

    /// Removes the containers for every spelling of a table name.
    pub(crate) fn forget(&self, table: &TableName) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(table.folded());
    }
}
