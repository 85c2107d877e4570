//! Tests an owner with an empty `RowKey`, whose parts are all rows of its partition except those reserved for patterns.

use std::collections::BTreeMap;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::group::One;
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::transaction::Transaction;
use table_core::{Entity, EntityGroup, TableEntity};

use super::reserved::{Mail, Nothing};
use crate::EntityStore;
use crate::outbox::{Intent, Outbox, Step};
use crate::tests::faults::{Call, FaultyStore, unordered};
use crate::work::Worker;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts", feed)]
#[partition_key(tenant)]
#[row_key("")]
struct Account {
    tenant: String,
    name: String,
}

/// A part of an account with any key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts")]
#[partition_key(tenant)]
#[row_key(name)]
struct Line {
    tenant: String,
    name: String,
}

#[derive(EntityGroup)]
#[entity_group(under = Account)]
struct AccountWithLines {
    account: One<Account>,
    #[other]
    lines: Vec<TableEntity>,
}

/// First characters of keys: the extremes of the ranges before and after the reserved character, and their neighbours.
const FIRST: [char; 10] = [
    ' ',
    'a',
    '\u{D7FF}',
    '\u{10000}',
    '\u{10FFFF}',
    '\u{E000}',
    '\u{FFFB}',
    '\u{FFFD}',
    '\u{FFFE}',
    '\u{FFFF}',
];

fn line(first: char) -> Line {
    Line { tenant: "contoso".into(), name: format!("{first}x") }
}

/// Returns the properties of each row in the partition, by `RowKey`.
async fn rows(store: &impl TableStore) -> BTreeMap<String, String> {
    let (table, query) = (TableName::new("Accounts").unwrap(), Query::new(KeyRange::partition("contoso")));
    let (mut rows, mut from) = (BTreeMap::new(), None);
    loop {
        let page = store.query(&table, &query, from.as_ref()).await.unwrap();
        rows.extend(page.rows.iter().map(|row| (row.row_key.to_owned(), format!("{row:?}"))));
        from = page.continuation;
        if from.is_none() {
            return rows;
        }
    }
}

/// Records an intent in the partition. Returns the outbox.
async fn record<S: TableStore + Clone + 'static>(store: &S) -> Outbox<S, Engine> {
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work").unwrap());
    outbox.create_queues().await.unwrap();
    let partition = PartitionKey::new("contoso").unwrap();
    let mut transaction = Transaction::new(partition, store.capabilities().limits).unwrap();
    let step = Step::call(&Mail("hello".into())).unwrap();
    outbox.record(&mut transaction, &Intent::of(RowKey::new("").unwrap()).step(step)).unwrap();
    outbox.submit(&TableName::new("Accounts").unwrap(), transaction).await.unwrap();
    outbox
}

async fn delete_all_lines<S: TableStore + Clone + 'static>(store: S) {
    let store = FaultyStore::new(store);
    let accounts = store.entities::<Account>().create_if_missing().await.unwrap();
    let account = || Account { tenant: "contoso".into(), name: "Contoso".into() };
    let key = || Account::key("contoso");
    accounts.insert(&account()).await.unwrap();
    for first in FIRST {
        accounts.insert_part(key(), &line(first)).await.unwrap();
    }
    assert!(accounts.insert_part(key(), &line('\u{FFFC}')).await.is_err());
    let outbox = record(&store).await;
    let is_reserved = |row_key: &String| row_key.starts_with('\u{FFFC}');
    let before = rows(&store).await;
    let reserved: Vec<_> = before.keys().filter(|key| is_reserved(key)).collect();
    assert!(reserved.len() > 2, "the feed and the intent: {reserved:?}");

    let group: AccountWithLines = accounts.table().read_group(key()).await.unwrap();
    assert_eq!(group.account.value(), &account());
    let mut found: Vec<_> = group.lines.iter().map(|row| row.key().row_key.to_string()).collect();
    found.sort_unstable();
    let mut expected: Vec<_> = FIRST.map(|first| line(first).name).into();
    expected.sort_unstable();
    assert_eq!(found, expected);

    store.heal();
    assert_eq!(accounts.delete_with_parts(key()).await.unwrap(), 1 + FIRST.len());
    assert!(store.calls().iter().filter(|call| **call == Call::Query).count() <= 2, "{:?}", store.calls());
    let after = rows(&store).await;
    assert!(after.keys().all(is_reserved), "{after:?}");
    for row_key in reserved {
        // The deletes are recorded in the feed, so its head changes.
        let is_same = after.get(row_key) == before.get(row_key) || row_key.contains("feed_head");
        assert!(is_same, "{row_key}");
    }
    let worker = Worker::new(outbox).handler(Nothing);
    worker.run_until_idle().await.unwrap();
    assert_eq!(worker.metrics().done, 1);
}

#[test]
fn pat_ck_3_an_owner_with_an_empty_key_owns_all_rows_that_are_not_reserved() {
    block_on(delete_all_lines(Engine::in_memory()));
    block_on(delete_all_lines(unordered()));
}
