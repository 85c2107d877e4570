//! A cache of opened containers.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use azure_data_cosmos::clients::ContainerClient;
use table_core::TableName;

use crate::mapping::Mapping;

/// The opened containers, by the name of their table in lower case.
#[derive(Default)]
pub(crate) struct Containers(RwLock<HashMap<String, Container>>);

/// A container and the mapping of its items.
#[derive(Clone)]
pub(crate) struct Container {
    pub(crate) client: ContainerClient,
    pub(crate) mapping: Arc<Mapping>,
}

impl Containers {
    pub(crate) fn get(&self, table: &TableName) -> Option<Container> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(table.folded()).cloned()
    }

    pub(crate) fn put(&self, table: &TableName, container: Container) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(table.folded().to_owned(), container);
    }

    pub(crate) fn forget(&self, table: &TableName) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(table.folded());
    }
}
