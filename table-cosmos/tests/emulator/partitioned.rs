//! A store that creates tables with a given number of physical partitions, which no client can request.

use std::fmt;
use std::sync::Arc;

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{EntityKey, Error, ErrorCode, Result, TableName, TableStore, Transaction};
use table_cosmos::CosmosTables;
use table_cosmos::emulator::Emulator;

use crate::unrest::Unrest;

#[derive(Clone, Debug)]
pub(crate) struct Partitioned {
    pub(crate) emulator: Emulator,
    pub(crate) store: CosmosTables,
    pub(crate) partitions: u32,
    pub(crate) unrest: Option<Arc<Unrest>>,
}

impl Partitioned {
    /// Creates a table with this many levels.
    pub(crate) fn create(&self, table: &str, levels: usize) -> TableName {
        let table = TableName::new(table).unwrap();
        self.emulator.create(&table, levels, self.partitions, None).unwrap();
        table
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
        // A container created by the client has four partitions here.
        if self.partitions == 4 {
            return self.store.create_table(table).await;
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
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.disturb(table).await?;
        self.store.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.disturb(table).await?;
        self.store.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.disturb(table).await?;
        self.store.submit(table, transaction).await
    }
}
