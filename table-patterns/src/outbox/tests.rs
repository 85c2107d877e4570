//! Tests the stored formats of outboxes, feeds and messages against a snapshot.

mod given_keys;
mod keys;
mod notes;

use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::ValueRef;
use table_core::embedded::{Clock, EngineOptions};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::query::{KeyRange, Page, Query};
use table_core::queue::{QueueName, QueueStore};
use table_core::row::{Row, RowWriter};
use table_core::store::TableStore;
use table_core::transaction::Transaction;

use crate::feed::{Feed, FeedChange};
use crate::outbox::{Intent, Message, Outbox, REGISTRY, Step};
use crate::work::{Runtime, Worker};

#[derive(Serialize, Deserialize)]
struct Mail {
    to: String,
}

impl Message for Mail {
    const NAME: &'static str = "mail";
    const VERSION: u32 = 2;
}

const NOW: u64 = 639_307_584_000_000_000;

fn row(value: &str) -> Row {
    let mut writer = RowWriter::new();
    writer.property("FirstName", ValueRef::String(value));
    writer.finish()
}

/// Returns a key without the random identifier at its end, which is different in each run.
fn without_id(row_key: &str) -> String {
    match row_key.rsplit_once('_') {
        Some((front, id)) if id.len() == 32 => format!("{front}_{{32 digits}}"),
        _ => row_key.to_owned(),
    }
}

fn lines_of(page: &Page) -> Vec<String> {
    let mut lines = Vec::new();
    for entity in page.rows.iter() {
        lines.push(format!("{} / {}", entity.partition_key, without_id(entity.row_key)));
        for property in entity.row.properties() {
            let property = property.unwrap();
            let value = match property.value {
                ValueRef::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                ValueRef::Int64(_) if property.name == "Id" => "random".to_owned(),
                ValueRef::String(_) if property.name == "Seal" => "of a random key".to_owned(),
                value => format!("{value:?}"),
            };
            lines.push(format!("  {}: {value}", property.name));
        }
    }
    lines
}

#[test]
fn the_layout_of_an_outbox_and_a_feed() {
    let store = EngineOptions::new().clock(Clock::new(|| NOW)).in_memory();
    let (company, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    block_on(store.create_table(&company)).unwrap();
    let queue = QueueName::new("work").unwrap();
    let clocked = Runtime::new().clock(Clock::new(|| NOW));
    let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue.clone(), clocked.clone());
    block_on(outbox.create_queues()).unwrap();
    let feed = Feed::with_runtime(store.clone(), clocked);

    let (ada, directory) = (RowKey::new("empid_000223").unwrap(), TableName::new("Directory").unwrap());
    let at = |row_key: &str| EntityKey::new("email_Sales", row_key).unwrap();
    let intent = Intent::of(ada.clone())
        .step(Step::delete_if_exists(directory.clone(), at("old@contoso.com")))
        .step(Step::insert_or_replace(directory, at("ada@contoso.com"), row("Ada")))
        .step(Step::call(&Mail { to: "ada".into() }).unwrap());
    let mut hire = Transaction::new(sales, store.capabilities().limits).unwrap();
    hire.push(Operation { row_key: ada.clone(), kind: OperationKind::Insert(row("Ada")) }).unwrap();
    outbox.record(&mut hire, &intent).unwrap();
    let sales = hire.partition_key().clone();
    block_on(outbox.register(&company, &sales)).unwrap();
    let change = FeedChange { source: &ada, kind: "hired", payload: b"{}" };
    block_on(feed.submit(&company, hire, &[change])).unwrap();
    block_on(outbox.notify(&company, &sales)).unwrap();

    let mut lines = Vec::new();
    for table in [company, TableName::new(REGISTRY).unwrap()] {
        lines.push(format!("table {table}"));
        let found = block_on(store.query(&table, &Query::new(KeyRange::ALL), None)).unwrap();
        lines.extend(lines_of(&found));
    }
    lines.push(format!("queue {queue}"));
    for message in block_on(store.peek(&queue, 32)).unwrap() {
        lines.push(format!("  {}", message.text));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn the_layout_of_an_attempted_intent() {
    let store = EngineOptions::new().clock(Clock::new(|| NOW)).in_memory();
    let (company, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    block_on(store.create_table(&company)).unwrap();
    let clocked = Runtime::new().seed(7).clock(Clock::new(|| NOW));
    let outbox = Outbox::with_runtime(store.clone(), store.clone(), QueueName::new("work").unwrap(), clocked);
    block_on(outbox.create_queues()).unwrap();
    let mut transaction = Transaction::new(sales, store.capabilities().limits).unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Mail { to: "ada".into() }).unwrap());
    outbox.record(&mut transaction, &intent).unwrap();
    block_on(outbox.submit(&company, transaction)).unwrap();
    // This worker has no handler.
    block_on(Worker::new(outbox).run_once()).unwrap();
    let found = block_on(store.query(&company, &Query::new(KeyRange::ALL), None)).unwrap();
    insta::assert_snapshot!(lines_of(&found).join("\n"));
}

#[test]
fn pat_ec_2_two_intents_for_one_target_are_refused_if_one_would_be_lost() {
    let store = table_core::embedded::Engine::in_memory();
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("work").unwrap());
    let sales = PartitionKey::new("Sales").unwrap();
    let mut transaction = Transaction::new(sales, store.capabilities().limits).unwrap();
    let intent = |source: &str, target: &str| {
        let at = EntityKey::new("email", target).unwrap();
        let step = Step::insert_or_merge(TableName::new("Directory").unwrap(), at, row("Ada"));
        Intent::of(RowKey::new(source).unwrap()).step(step)
    };
    outbox.record(&mut transaction, &intent("1", "ada")).unwrap();
    outbox.record(&mut transaction, &intent("1", "bob")).unwrap();
    outbox.record(&mut transaction, &intent("2", "ada")).unwrap();
    let error = outbox.record(&mut transaction, &intent("1", "ada")).unwrap_err();
    assert_eq!((error.rule(), error.key()), (Some("PAT-EC-2"), Some(("email", "ada"))));
    assert_eq!(transaction.operations().len(), 3, "the transaction stays as it was");
}
