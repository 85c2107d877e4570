//! Tests messages and intents in which one value has been changed.

use serde_json::{Value, json};
use table_core::ValueRef;
use table_core::key::EntityKey;
use table_core::query::Query;
use table_core::row::RowWriter;

use super::*;
use crate::outbox::place::{OutboxKey, Place};
use crate::outbox::rows;
use crate::outbox::work::{Work, portable};

/// Adds the JSON pointers of all leaf values in `value`.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| leaves(value, &format!("{path}/{name}"), found));
        }
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(at, value)| leaves(value, &format!("{path}/{at}"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

/// Returns all variants of `text`, a message or an intent, with one value in its JSON replaced.
fn mutants(text: &str, is_message: bool) -> Vec<String> {
    let whole: Value = serde_json::from_str(text).unwrap();
    let mut paths = Vec::new();
    leaves(&whole, "", &mut paths);
    let values =
        [json!(""), json!("a/b"), json!("x".repeat(2_000)), json!("\u{FFFF}"), json!(7), json!(null)];
    // The first byte of a row is its format, which is never 0xFD to 0xFF.
    let rows = [json!("/Q=="), json!("/g=="), json!("/w==")];
    let mut texts = Vec::new();
    for path in paths {
        for value in values.iter().chain(rows.iter().filter(|_| path.ends_with("/Row"))) {
            // A newer program may be able to read a later version of the message. The message is therefore left for it.
            if is_message && path == "/Version" && *value == json!(7) {
                continue;
            }
            let mut mutant = whole.clone();
            *mutant.pointer_mut(&path).unwrap() = value.clone();
            texts.push(portable(&mutant.to_string()));
        }
    }
    texts
}

/// A genuine intent: the key, the JSON and the seal of its row.
struct Genuine {
    row_key: RowKey,
    text: String,
    seal: String,
}

/// Records an intent. Returns its row.
fn genuine(outbox: &Outbox<Engine, Engine>, engine: &Engine) -> Genuine {
    let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    block_on(engine.create_table(&table)).unwrap();
    let target = |row_key: &str| EntityKey::new("target", row_key).unwrap();
    let row = TableEntity::new("target", "1").unwrap().with("Text", "x").to_row().unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap())
        .version(3)
        .step(Step::call(&Mail("hello".into())).unwrap())
        .step(Step::insert_or_replace(table.clone(), target("1"), row))
        .step(Step::delete_if_exists(table.clone(), target("2")));
    block_on(outbox.enqueue(&table, &sales, &intent)).unwrap();
    let page = block_on(engine.query(&table, &Query::new(rows::range(&sales)), None)).unwrap();
    let row = page.rows.iter().next().expect("the row of the intent");
    Genuine {
        row_key: RowKey::new(row.row_key).unwrap(),
        text: String::from_utf8(rows::text_in(row.row).unwrap()).unwrap(),
        seal: rows::seal_in(row.row).unwrap().unwrap().to_owned(),
    }
}

/// Replaces the JSON of a genuine intent, and keeps its seal.
fn replace(engine: &Engine, Genuine { row_key, seal, .. }: &Genuine, text: &str) {
    let mut writer = RowWriter::new();
    writer.property("Intent", ValueRef::Binary(text.as_bytes()));
    writer.property("Seal", ValueRef::String(seal));
    let sales = PartitionKey::new("Sales").unwrap();
    let kind = OperationKind::InsertOrReplace(writer.finish());
    let write = Operation { row_key: row_key.clone(), kind };
    let write = rows::together(&sales, [write], engine.capabilities().limits).unwrap();
    block_on(engine.submit(&TableName::new("Company").unwrap(), write)).unwrap();
}

/// Runs a worker for a day.
fn work(outbox: &Outbox<Engine, Engine>, time: &AtomicU64) -> Worker<Engine, Engine> {
    let worker = Worker::new(outbox.clone()).handler(Nothing);
    for _ in 0..24 {
        block_on(worker.run_until_idle()).unwrap();
        time.fetch_add(36_000_000_000, Ordering::SeqCst);
    }
    worker
}

#[test]
fn pat_ec_4_a_message_with_any_invalid_value_does_not_stay_in_the_queue() {
    let (of_genuine, engine, _) = outbox();
    let Genuine { row_key, .. } = genuine(&of_genuine, &engine);
    let (table, partition_key) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    let row_key = OutboxKey::of(row_key).unwrap();
    let partition = Work::partition(&table, &partition_key).next(Some(row_key.to_row_key()), Some(7));
    let messages = [Work::Row(Place { table, partition_key, row_key }), partition];
    let texts: Vec<_> = messages.iter().flat_map(|work| mutants(&work.write().unwrap(), true)).collect();
    assert!(texts.len() > 50, "{}", texts.len());
    for text in texts {
        let (outbox, engine, time) = outbox();
        genuine(&outbox, &engine);
        block_on(engine.put(outbox.queue(), PutMessage::new(text.as_str()))).unwrap();
        let worker = work(&outbox, &time);
        let shown = text.chars().take(2_000).collect::<String>();
        assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 0, "{shown}");
        // The message of the genuine intent is processed as well.
        assert_eq!(worker.metrics().done, 1, "{shown}");
    }
}

#[test]
fn pat_ec_4_an_intent_with_any_invalid_value_is_done_or_set_aside() {
    let (of_genuine, engine, _) = outbox();
    let texts = mutants(&genuine(&of_genuine, &engine).text, false);
    assert!(texts.len() > 100, "{}", texts.len());
    for text in texts {
        let (outbox, engine, time) = outbox();
        let genuine = genuine(&outbox, &engine);
        replace(&engine, &genuine, &text);
        let worker = work(&outbox, &time);
        let backlog = block_on(outbox.backlog()).unwrap();
        let shown = text.chars().take(2_000).collect::<String>();
        assert_eq!((backlog.waiting, worker.metrics().done + backlog.poison), (0, 1), "{shown}");
    }
}

#[test]
fn pat_ec_4_an_intent_that_cannot_be_read_becomes_poison_at_once() {
    let (of_genuine, engine, _) = outbox();
    let intent: Value = serde_json::from_str(&genuine(&of_genuine, &engine).text).unwrap();
    let with = |path: &str, value: &str| {
        let mut intent = intent.clone();
        *intent.pointer_mut(path).unwrap() = json!(value);
        intent.to_string()
    };
    for intent in [
        "no JSON".to_owned(),
        "{}".to_owned(),
        with("/Steps/1/Table", "!"),
        with("/Steps/1/Row", "!"),
        with("/Steps/2/Do", "Unknown"),
    ] {
        let (outbox, engine, _) = outbox();
        let genuine = genuine(&outbox, &engine);
        replace(&engine, &genuine, &intent);
        block_on(Worker::new(outbox.clone()).handler(Nothing).run_until_idle()).unwrap();
        let backlog = block_on(outbox.backlog()).unwrap();
        assert_eq!((backlog.waiting, backlog.poison), (0, 1), "{intent}");
    }
}

/// A message whose own decoder refuses every text.
#[derive(Serialize, Deserialize)]
struct Letter(String);

impl Message for Letter {
    const NAME: &'static str = "letter";
    const VERSION: u32 = 1;

    fn decode(_: u32, _: &str) -> Result<Self> {
        Err(Error::new(ErrorCode::Corrupted, "the letter has no address"))
    }
}

struct Unread;

impl Handler<Letter> for Unread {
    async fn handle(&self, _: &Letter, _: work::Delivery<'_>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn pat_ec_4_a_message_refused_by_its_own_decoder_becomes_poison_at_once() {
    let (outbox, engine, _) = outbox();
    let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    block_on(engine.create_table(&table)).unwrap();
    let step = Step::call(&Letter("hello".into())).unwrap();
    block_on(outbox.enqueue(&table, &sales, &Intent::of(RowKey::new("1").unwrap()).step(step))).unwrap();
    let worker = Worker::new(outbox.clone()).handler::<Letter>(Unread);
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!((block_on(outbox.backlog()).unwrap().poison, worker.metrics().failures), (1, 1));
}
