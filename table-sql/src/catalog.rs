//! The tables of a store, provided as the schema of a DataFusion session. A table is opened when a statement refers to it.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::{SessionConfig, SessionContext};
use table_core::{DynTableStore, TableName, TableStore};

use crate::table::StoreTable;

/// The options of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlOptions {
    /// The number of rows sampled to find properties not declared in the stored schemas, or `None` to sample all rows.
    pub sample: Option<usize>,
    /// `true` to announce the key order to DataFusion. A statement then fails if characters above U+FFFF make SQL order differ from store order.
    pub key_order: bool,
}

impl Default for SqlOptions {
    /// Returns the default options, which sample 10,000 rows and announce the key order.
    fn default() -> Self {
        Self { sample: Some(10_000), key_order: true }
    }
}

/// Creates a session for the tables of a store. Names are case-sensitive even without quotes.
///
/// # Errors
/// `External`, containing the error from the store, if a request fails.
pub async fn session(store: &DynTableStore, options: &SqlOptions) -> Result<SessionContext> {
    let mut config = SessionConfig::new();
    config.options_mut().sql_parser.enable_ident_normalization = false;
    let (catalog, schema) =
        (config.options().catalog.default_catalog.clone(), config.options().catalog.default_schema.clone());
    let session = SessionContext::new_with_config(config);
    let tables = StoreTables { store: store.clone(), names: names(store).await?, options: options.clone() };
    let catalog = session.catalog(&catalog);
    let catalog =
        catalog.ok_or_else(|| DataFusionError::Internal("the session has no catalog".to_owned()))?;
    catalog.register_schema(&schema, Arc::new(tables))?;
    Ok(session)
}

/// Returns the names of all tables in the store.
async fn names(store: &DynTableStore) -> Result<Vec<String>> {
    let (mut names, mut from) = (Vec::new(), None);
    loop {
        let page = store.list_tables("", from.as_deref(), 1_000).await;
        let page = page.map_err(|error| DataFusionError::External(Box::new(error)))?;
        names.extend(page.names.iter().map(|name| name.as_str().to_owned()));
        from = page.next;
        if from.is_none() {
            return Ok(names);
        }
    }
}

/// The tables of a store.
#[derive(Debug)]
struct StoreTables {
    store: DynTableStore,
    names: Vec<String>,
    options: SqlOptions,
}

#[async_trait]
impl SchemaProvider for StoreTables {
    fn table_names(&self) -> Vec<String> {
        self.names.clone()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(name) = self.names.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            return Ok(None);
        };
        let name =
            TableName::new(name.as_str()).map_err(|error| DataFusionError::External(Box::new(error)))?;
        Ok(Some(Arc::new(StoreTable::open(&self.store, &name, &self.options).await?)))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}
