//! Implements [`TableStore`] for the client.

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::{EntityKey, Result, TableName, Transaction};

use crate::client::CosmosTables;
use crate::usage::Verb;

impl TableStore for CosmosTables {
    fn capabilities(&self) -> &Capabilities {
        self.known_capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        let table = table.clone();
        self.change(|store| async move { store.create(&table).await }).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        let table = table.clone();
        self.change(|store| async move { store.delete(&table).await }).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        let (prefix, from) = (prefix.to_owned(), from.map(str::to_owned));
        self.run(|store| async move { store.list(&prefix, from.as_deref(), top).await }).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let (named, key, select) = (table.clone(), key.clone(), select.clone());
        self.charged(Verb::Get, table, |store| async move {
            store.entity(&named, &key, &select).await.map_err(|error| {
                error.with_table(named.as_str()).with_key(key.partition_key.as_str(), key.row_key.as_str())
            })
        })
        .await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let (named, query, from) = (table.clone(), query.clone(), from.cloned());
        self.charged(Verb::Query, table, |store| async move {
            let page = store.page(&named, &query, from.as_ref()).await;
            page.map_err(|error| error.with_table(named.as_str()))
        })
        .await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let named = table.clone();
        self.charged(Verb::Submit, table, |store| async move {
            store.write(&named, transaction).await.map_err(|error| error.with_table(named.as_str()))
        })
        .await
    }
}
