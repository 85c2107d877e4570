//! Tests of stores limited to tables with a name prefix, and of the deletion of all their tables.

use std::fmt;

use table_core::query::Select;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    Continuation, Engine, EntityKey, Error, ErrorCode, Page, Query, Result, TableName, TableStore,
    TableStoreExt, Transaction,
};

use examples::cleanup::delete_tables;
use examples::model::company::{Employee, employees};
use examples::prefixed::*;

/// A store that lists tables as the service does. A page has at most two names, and a token is not a name. One of the tables cannot be deleted.
#[derive(Debug)]
struct Service {
    engine: Engine,
    capabilities: Capabilities,
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store with opaque tokens")
    }
}

impl TableStore for Service {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        if table.as_str().ends_with("Kept") {
            return Err(Error::new(ErrorCode::ServerBusy, "the table is kept"));
        }
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        if top > 1_000 {
            return Err(Error::new(ErrorCode::InvalidInput, "a page has at most 1,000 names"));
        }
        let from = from.map(|token| {
            let name = token.strip_prefix("1!").unwrap();
            name.chars().rev().collect::<String>()
        });
        let page = self.engine.list_tables(prefix, from.as_deref(), top.min(2)).await?;
        let token = |name: String| format!("1!{}", name.chars().rev().collect::<String>());
        Ok(TablePage { next: page.next.map(token), ..page })
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.engine.submit(table, transaction).await
    }
}

#[test]
fn all_tables_of_a_service_are_deleted_whatever_its_tokens_are() {
    pollster::block_on(async {
        let engine = Engine::in_memory();
        let mut capabilities = engine.capabilities().clone();
        // Cosmos DB for Table does not limit the number of rows in a page.
        capabilities.top = usize::try_from(i32::MAX).unwrap();
        let store = Prefixed::new(Service { engine: engine.clone(), capabilities }, "run");
        let tables = || async {
            let page = engine.list_tables("", None, 1_000).await.unwrap();
            page.names.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        engine.create_table(&TableName::new("Owned").unwrap()).await.unwrap();
        for names in [vec!["A00"], vec!["A00", "B00", "C00", "D00", "E00"]] {
            for name in &names {
                store.create_table(&TableName::new(name).unwrap()).await.unwrap();
            }
            assert_eq!(delete_tables(&store).await.unwrap(), names.len());
            assert_eq!(tables().await, ["Owned"]);
        }
        for name in ["A00", "BKept", "C00", "D00"] {
            store.create_table(&TableName::new(name).unwrap()).await.unwrap();
        }
        assert_eq!(delete_tables(&store).await.unwrap_err().code(), ErrorCode::ServerBusy);
        assert_eq!(tables().await, ["Owned", "runBKept"]);
    });
}

#[test]
fn two_prefixes_are_isolated_and_deleted_separately() {
    pollster::block_on(async {
        let account = Engine::in_memory();
        let (one, two) = (Prefixed::new(account.clone(), "one"), Prefixed::new(account.clone(), "two"));
        let table = one.table::<Employee>().create_if_missing().await.unwrap();
        table.bulk().insert_all(employees()).await.unwrap();
        two.table::<Employee>().create_if_missing().await.unwrap();

        let sales = |store: &Prefixed<Engine>| store.table::<Employee>().query(Employee::partition("Sales"));
        assert!(!sales(&one).collect().await.unwrap().is_empty());
        let page = sales(&one).page_size(2).page().await.unwrap();
        let rest = sales(&one).page_from(page.continuation.unwrap()).await.unwrap();
        assert_eq!(rest.items.len() + 2, sales(&one).collect().await.unwrap().len());
        assert!(sales(&two).collect().await.unwrap().is_empty());
        let names = |page: TablePage| page.names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(one.list_tables("", None, 10).await.unwrap()), ["Company", "TablesLayouts"]);
        let first = one.list_tables("", None, 1).await.unwrap();
        assert_eq!(names(one.list_tables("", first.next.as_deref(), 1).await.unwrap()), ["TablesLayouts"]);

        assert_eq!(delete_tables(&one).await.unwrap(), 2);
        let left = names(account.list_tables("", None, 10).await.unwrap());
        assert_eq!(left, ["twoCompany", "twoTablesLayouts"]);
    });
}
