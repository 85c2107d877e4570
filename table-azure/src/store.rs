//! Implements [`TableStore`] for the client.

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::{EntityKey, Result, TableName, Transaction};

use crate::client::AzureTables;

impl TableStore for AzureTables {
    fn capabilities(&self) -> &Capabilities {
        self.known_capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        let table = table.clone();
        self.run(|client| async move { client.create(&table).await }).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        let table = table.clone();
        self.run(|client| async move { client.delete(&table).await }).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        let (prefix, from) = (prefix.to_owned(), from.map(str::to_owned));
        self.run(|client| async move { client.list(&prefix, from.as_deref(), top).await }).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let (table, key, select) = (table.clone(), key.clone(), select.clone());
        self.run(|client| async move {
            client.read_for_users(&table, &key, &select).await.map_err(|error| {
                error.with_table(table.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
            })
        })
        .await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let (table, query, from) = (table.clone(), query.clone(), from.cloned());
        self.run_apart(|client| async move {
            client
                .read_page(&table, &query, from.as_ref())
                .await
                .map_err(|error| error.with_table(table.as_str()))
        })
        .await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let table = table.clone();
        self.run(|client| async move {
            client.write(&table, transaction).await.map_err(|error| error.with_table(table.as_str()))
        })
        .await
    }
}
