//! A store wrapper that creates tables with a given number of physical partitions, which a client cannot request.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{EntityKey, Error, ErrorCode, Result, TableName, TableStore, Transaction};
use table_cosmos::emulator::Emulator;
use table_cosmos::{CosmosTables, Format, Mapping, Options};

use crate::unrest::Unrest;

#[derive(Clone, Debug)]
pub(crate) struct Partitioned {
    pub(crate) emulator: Emulator,
    pub(crate) store: CosmosTables,
    pub(crate) partitions: u32,
    pub(crate) unrest: Option<Arc<Unrest>>,
    /// The stores for tables whose containers have a mapping, by lower-case table name.
    pub(crate) mapped: Option<Arc<Mutex<HashMap<String, CosmosTables>>>>,
}

/// Returns a mapping for another program's container. Any entity can be stored with it.
pub(crate) fn any_mapping() -> Mapping {
    Mapping::new(["/owner/tenant"]).property("Age", "/person/age", Format::Int32).constant("/kind", "entity")
}

impl Partitioned {
    /// Creates a table whose partition key has `levels` levels.
    pub(crate) fn create(&self, table: &str, levels: usize) -> TableName {
        let table = TableName::new(table).unwrap();
        self.emulator.create(&table, levels, self.partitions, None).unwrap();
        table
    }

    /// Returns the store used to access a table.
    async fn of(&self, table: &TableName) -> Result<CosmosTables> {
        let Some(mapped) = &self.mapped else { return Ok(self.store.clone()) };
        let known = mapped.lock().unwrap().get(table.folded()).cloned();
        if let Some(store) = known {
            return Ok(store);
        }
        let store = self.emulator.open(Options::new().mapping(table.as_str(), any_mapping())?).await?;
        mapped.lock().unwrap().insert(table.folded().to_owned(), store.clone());
        Ok(store)
    }

    async fn disturb(&self, table: &TableName) -> Result<()> {
        match &self.unrest {
            Some(unrest) => unrest.disturb(&self.emulator, table).await,
            None => Ok(()),
        }
    }
}

impl fmt::Display for Partitioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} partitions", self.store, self.partitions)
    }
}

impl TableStore for Partitioned {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        table.require_creatable()?;
        // In the emulator, a container created by the client has four partitions.
        if self.partitions == 4 {
            return self.of(table).await?.create_table(table).await;
        }
        if self.store.list_tables(table.as_str(), None, 1000).await?.names.contains(table) {
            return Err(Error::new(ErrorCode::TableAlreadyExists, "it is there").with_rule("OPT-2"));
        }
        self.emulator.create(table, 1, self.partitions, None)?;
        if let Some(unrest) = &self.unrest {
            unrest.created(table, self.partitions).await;
        }
        Ok(())
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        if let Some(unrest) = &self.unrest {
            unrest.deleting(&self.emulator, table).await;
        }
        self.of(table).await?.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.disturb(table).await?;
        self.of(table).await?.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.disturb(table).await?;
        self.of(table).await?.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.disturb(table).await?;
        self.of(table).await?.submit(table, transaction).await
    }
}
