//! Tests of patterns on a store whose Timestamps are whole seconds. Feeds and views do not use Timestamps. Guarded outbox steps use versions, or are
//! rejected.

use table_core::row::RowWriter;
use table_core::{
    Engine, Entity, EntityKey, Error, ErrorCode, QueueName, Result, TableName, TableStore, Transaction,
    ValueRef,
};
use table_cosmos::Options;
use table_patterns::EntityStore;
use table_patterns::outbox::{Intent, Outbox, Step};
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::Worker;

use crate::{runtime, store};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Accounts", feed)]
#[partition_key(owner)]
#[row_key(id)]
struct Account {
    owner: String,
    #[digits(4)]
    id: u32,
    cents: i64,
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Balances")]
#[partition_key(owner)]
#[row_key("balance")]
struct Balance {
    owner: String,
    cents: i64,
}

struct Balances;

impl View for Balances {
    type Source = Account;
    type Row = Balance;

    fn project(account: &Account, view: &mut Projection<Balance>) -> Result<()> {
        view.add(Balance::key(&account.owner), Balance::CENTS, account.cents)
    }
}

fn refused(error: &Error, pattern: &str) {
    assert_eq!((error.code(), error.rule()), (ErrorCode::Unsupported, Some("ETAG-6")), "{error}");
    assert!(error.to_string().contains(pattern) && error.to_string().contains("steps of 1s"), "{error}");
}

#[test]
fn etag_6_a_change_feed_and_a_view_need_no_timestamps() {
    runtime().block_on(async {
        let store = store(4, Options::new()).await;
        let accounts = store.entities::<Account>().create_if_missing().await.unwrap();
        let view = ViewTable::<Balances, _>::new(store.clone()).create_if_missing().await.unwrap();
        view.rebuild().run().await.unwrap();
        for id in 0..5 {
            accounts.insert(&Account { owner: "ada".into(), id, cents: 5 }).await.unwrap();
        }
        view.catch_up(100).await.unwrap();
        let balance = view.table().await.unwrap().get(Balance::key("ada")).await.unwrap().unwrap();
        assert_eq!(balance.cents, 25);
    });
}

#[test]
fn etag_6_guarded_steps_follow_their_versions_or_are_refused() {
    runtime().block_on(async {
        let store = store(4, Options::new()).await;
        let (source, directory) = (store.create("Staff", 1), store.create("Directory", 1));
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work").unwrap());
        outbox.create_queues().await.unwrap();
        let (ada, copy) = (EntityKey::new("Sales", "223").unwrap(), EntityKey::new("email", "ada").unwrap());
        let intent = |age| {
            let mut row = RowWriter::new();
            row.property("Age", ValueRef::Int32(age));
            let step = Step::insert_or_replace(directory.clone(), copy.clone(), row.finish());
            Intent::of(ada.row_key.clone()).step(step)
        };
        refused(&outbox.operation(&intent(30)).unwrap_err(), "guarded steps");
        for (version, age) in [(2, 32), (1, 31)] {
            let limits = store.capabilities().limits;
            let mut change = Transaction::new(ada.partition_key.clone(), limits).unwrap();
            outbox.record(&mut change, &intent(age).version(version)).unwrap();
            outbox.submit(&source, change).await.unwrap();
            Worker::new(outbox.clone()).run_until_idle().await.unwrap();
        }
        let found = store.get(&directory, &copy, &table_core::query::Select::All).await.unwrap().unwrap();
        assert_eq!(found.row.view().find("Age", &mut 0).unwrap(), Some(ValueRef::Int32(32)), "the later one");
    });
}

#[test]
fn etag_6_timestamps_are_whole_seconds_as_the_capability_says() {
    runtime().block_on(async {
        let store = store(1, Options::new()).await;
        let table = TableName::new("Accounts").unwrap();
        assert_eq!(store.capabilities().timestamp_step, 10_000_000);
        store.create(table.as_str(), 1);
        let limits = store.capabilities().limits;
        let key = EntityKey::new("ada", "1").unwrap();
        let mut insert = Transaction::new(key.partition_key.clone(), limits).unwrap();
        let kind = table_core::OperationKind::Insert(RowWriter::new().finish());
        insert.push(table_core::Operation { row_key: key.row_key.clone(), kind }).unwrap();
        store.submit(&table, insert).await.unwrap();
        let found = store.get(&table, &key, &table_core::query::Select::All).await.unwrap().unwrap();
        assert_eq!(found.row.view().timestamp() % 10_000_000, 0);
    });
}
