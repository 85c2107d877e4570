//! Tests of containers whose names differ only in case. Other programs may create such containers (TBL-2).

use table_core::query::Select;
use table_core::{EntityKey, ErrorCode, OperationKind, TableName, TableStore};
use table_cosmos::Options;
use table_cosmos::emulator::Emulator;

use crate::operation::{row, transaction};
use crate::runtime;

fn names() -> [TableName; 3] {
    ["Events", "events", "EVENTS"].map(|name| TableName::new(name).unwrap())
}

#[test]
fn tbl_2_each_spelling_refers_to_the_same_container_in_every_order_of_calls() {
    let [upper, lower, neither] = names();
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let key = EntityKey::new("p", "r").unwrap();
        for name in [&upper, &lower] {
            account.create(name, 1, 1, None).unwrap();
            let store = account.open(Options::new()).await.unwrap();
            let insert = [("r".to_owned(), OperationKind::Insert(row(name.as_str())))];
            store.submit(name, transaction(&store, insert)).await.unwrap();
        }
        for order in [[&upper, &lower, &upper], [&lower, &upper, &lower]] {
            let store = account.open(Options::new()).await.unwrap();
            for name in order {
                let found = store.get(name, &key, &Select::All).await.unwrap().unwrap();
                assert_eq!(found.row.with_timestamp(0), row(name.as_str()));
                let refused = [
                    store.get(&neither, &key, &Select::All).await.map(drop),
                    store.delete_table(&neither).await,
                ];
                for error in refused.map(Result::unwrap_err) {
                    assert_eq!(
                        (error.code(), error.rule()),
                        (ErrorCode::SchemaMismatch, Some("TBL-2")),
                        "{error}"
                    );
                }
            }
        }
        // After one of the containers is deleted, its name refers to the other one.
        let store = account.open(Options::new()).await.unwrap();
        assert!(store.get(&upper, &key, &Select::All).await.unwrap().is_some());
        store.delete_table(&upper).await.unwrap();
        for name in names() {
            let found = store.get(&name, &key, &Select::All).await.unwrap().unwrap();
            assert_eq!(found.row.with_timestamp(0), row("events"));
        }
    });
}

#[test]
fn opt_5_a_listing_contains_one_name_of_two_that_differ_only_in_case() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        for name in ["Alpha", "Events", "events", "Omega"] {
            account.create(&TableName::new(name).unwrap(), 1, 1, None).unwrap();
        }
        let store = account.open(Options::new()).await.unwrap();
        for top in 1..=4 {
            let (mut from, mut found) = (None, Vec::new());
            loop {
                let page = store.list_tables("", from.as_deref(), top).await.unwrap();
                found.extend(page.names.iter().map(|name| name.as_str().to_owned()));
                assert!(found.len() <= 3, "{found:?}");
                from = page.next;
                if from.is_none() {
                    break;
                }
            }
            assert_eq!(found, ["Alpha", "Events", "Omega"], "pages of {top}");
        }
    });
}
