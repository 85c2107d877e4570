//! Tests of stores that are limited to the tables with a name prefix.

use table_core::store::TablePage;
use table_core::{Engine, TableStore, TableStoreExt};

use examples::model::company::{Employee, employees};
use examples::prefixed::*;

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
        let rest = sales(&one).page_from(&page.continuation.unwrap()).await.unwrap();
        assert_eq!(rest.items.len() + 2, sales(&one).collect().await.unwrap().len());
        assert!(sales(&two).collect().await.unwrap().is_empty());
        let names = |page: TablePage| page.names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(one.list_tables("", None, 10).await.unwrap()), ["Company", "TablesLayouts"]);
        let first = one.list_tables("", None, 1).await.unwrap();
        assert_eq!(first.next.as_deref(), Some("TablesLayouts"));
        assert_eq!(names(one.list_tables("", first.next.as_deref(), 1).await.unwrap()), ["TablesLayouts"]);

        assert_eq!(delete_tables(&one).await.unwrap(), 2);
        let left = names(account.list_tables("", None, 10).await.unwrap());
        assert_eq!(left, ["twoCompany", "twoTablesLayouts"]);
    });
}
