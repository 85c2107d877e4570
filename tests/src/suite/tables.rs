//! Test scenarios for tables: their names, creation, deletion and listing (TBL, OPT rules).

use table_core::query::{KeyRange, Select};
use table_core::{EntityKey, Error, ErrorCode, IfMatch, Query, TableName, TableStore};

use super::scene::{Scene, a, fresh_name, is_a, refused, row};

pub async fn opt_1_and_2_a_table_is_created_once<S: TableStore>(store: &S) {
    let name = fresh_name();
    store.create_table(&name).await.unwrap();
    refused(store.create_table(&name).await, ErrorCode::TableAlreadyExists);
}

pub async fn tbl_2_names_are_compared_without_case<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    let upper = TableName::new(&scene.table.as_str().to_uppercase()).unwrap();
    refused(store.create_table(&upper).await, ErrorCode::TableAlreadyExists);
    scene.insert("p", "r", a(1)).await.unwrap();
    let in_upper = Scene { store, table: upper };
    assert!(in_upper.read("p", "r").await.is_some());
    let listed = store.list_tables(scene.table.as_str(), None, 10).await.unwrap().names;
    let listed: Vec<&str> = listed.iter().map(TableName::as_str).collect();
    assert_eq!(listed, [scene.table.as_str()], "the case of the creation is kept");
    store.delete_table(&in_upper.table).await.unwrap();
    refused(scene.insert("p", "r", a(1)).await, ErrorCode::TableNotFound);
}

pub async fn tbl_6_entities_of_a_table_may_differ_in_properties_and_types<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "1", a(1)).await.unwrap();
    scene.insert("p", "2", a("one")).await.unwrap();
    scene.insert("p", "3", row([("B", true.into())])).await.unwrap();
    assert_eq!(scene.properties("p", "1").await, is_a(1));
    assert_eq!(scene.properties("p", "2").await, is_a("one"));
}

pub async fn opt_3_delete_of_a_missing_table_is_resource_not_found<S: TableStore>(store: &S) {
    let error = refused(store.delete_table(&fresh_name()).await, ErrorCode::ResourceNotFound);
    assert!(!error.is_table_not_found());
}

pub async fn opt_4_and_6_a_deleted_table_is_gone_at_once<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    store.delete_table(&scene.table).await.unwrap();
    refused(scene.insert("p", "r", a(1)).await, ErrorCode::TableNotFound);
    assert!(store.list_tables(scene.table.as_str(), None, 10).await.unwrap().names.is_empty());
}

pub async fn eng_9_a_recreated_table_is_empty<S: TableStore>(store: &S) {
    let scene = Scene::new(store).await;
    scene.insert("p", "r", a(1)).await.unwrap();
    store.delete_table(&scene.table).await.unwrap();
    store.create_table(&scene.table).await.unwrap();
    assert_eq!(scene.read("p", "r").await, None);
    scene.insert("p", "r", a(2)).await.unwrap();
    assert_eq!(scene.keys(&Query::new(KeyRange::ALL)).await.len(), 1);
}

pub async fn opt_6_every_operation_on_a_missing_table_is_table_not_found<S: TableStore>(store: &S) {
    let scene = Scene::missing(store);
    refused(scene.page(&Query::new(KeyRange::ALL), None).await, ErrorCode::TableNotFound);
    refused(scene.try_read("p", "r", &Select::All).await, ErrorCode::TableNotFound);
    refused(scene.insert("p", "r", a(1)).await, ErrorCode::TableNotFound);
    refused(scene.replace("p", "r", a(1), IfMatch::Any).await, ErrorCode::TableNotFound);
    refused(scene.merge("p", "r", a(1), IfMatch::Any).await, ErrorCode::TableNotFound);
    refused(scene.insert_or_replace("p", "r", a(1)).await, ErrorCode::TableNotFound);
    refused(scene.insert_or_merge("p", "r", a(1)).await, ErrorCode::TableNotFound);
    let error = refused(scene.delete("p", "r", IfMatch::Any).await, ErrorCode::TableNotFound);
    assert_eq!(error.table(), Some(scene.table.as_str()));
}

pub async fn opt_5_and_page_12_a_listing_is_ordered_and_paged_by_prefix<S: TableStore>(store: &S) {
    let stem = fresh_name();
    let names: Vec<String> = ["A", "Ab", "B", "C", "D"].iter().map(|end| format!("{stem}{end}")).collect();
    for name in names.iter().rev() {
        store.create_table(&TableName::new(name).unwrap()).await.unwrap();
    }
    let mut listed = Vec::new();
    let mut from: Option<String> = None;
    loop {
        let page = store.list_tables(stem.as_str(), from.as_deref(), 2).await.unwrap();
        assert!(page.names.len() <= 2);
        listed.extend(page.names.iter().map(|name| name.as_str().to_owned()));
        match page.next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    assert_eq!(listed, names);
    let some = store.list_tables(&format!("{stem}A"), None, 1_000).await.unwrap();
    assert_eq!((some.names.len(), some.next), (2, None));
}

pub async fn tbl_6_tables_do_not_share_entities<S: TableStore>(store: &S) {
    let (one, other) = (Scene::new(store).await, Scene::new(store).await);
    one.insert("p", "r", a(1)).await.unwrap();
    assert_eq!(other.read("p", "r").await, None);
    other.insert("p", "r", a(2)).await.unwrap();
    store.delete_table(&other.table).await.unwrap();
    assert_eq!(one.properties("p", "r").await, is_a(1));
}

pub async fn tbl_1_3_4_and_5_names_are_checked_before_they_are_used<S: TableStore>(store: &S) {
    let stem = fresh_name().to_string();
    let longest = format!("{stem}{}", "x".repeat(63 - stem.len()));
    store.create_table(&TableName::new(&longest).unwrap()).await.unwrap();
    refused(TableName::new(&(longest + "x")), ErrorCode::OutOfRangeInput);
    refused(TableName::new("ab"), ErrorCode::OutOfRangeInput);
    refused(TableName::new("Tables"), ErrorCode::InvalidInput);
    for name in ["my-table", "1st", "täble", "$Other", "a_b"] {
        refused(TableName::new(name), ErrorCode::InvalidResourceName);
    }
    let metrics = TableName::new("$MetricsTransactionsTable").unwrap();
    refused(store.create_table(&metrics).await, ErrorCode::InvalidResourceName);
    // If the service has created this table, it can be read like any other table.
    let key = EntityKey::new("20140423T0900", "user;All").unwrap();
    let read = store.get(&metrics, &key, &Select::All).await.map(|row| row.is_some());
    assert!(read.as_ref().map_or_else(Error::is_table_not_found, |found| !found), "{read:?}");
    let query = Query::new(KeyRange::partition("20140423T0900"));
    let page = store.query(&metrics, &query, None).await.map(|page| page.rows.is_empty());
    assert!(page.as_ref().map_or_else(Error::is_table_not_found, |empty| *empty), "{page:?}");
}
