//! Tests messages with a genuine intent in which one value has been changed.

use std::time::Duration;

use serde_json::{Value, json};
use table_core::key::EntityKey;
use table_core::queue::check::TEXT_BYTES;

use super::*;
use crate::outbox::work::portable;

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

/// Returns the message of a genuine intent.
fn genuine() -> String {
    let (outbox, engine, _) = outbox();
    let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
    let target = |row_key: &str| EntityKey::new("target", row_key).unwrap();
    let row = TableEntity::new("target", "1").unwrap().with("Text", "x").to_row().unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap())
        .version(3)
        .step(Step::call(&Mail("hello".into())).unwrap())
        .step(Step::insert_or_replace(table.clone(), target("1"), row))
        .step(Step::delete_if_exists(table.clone(), target("2")));
    block_on(outbox.enqueue(&table, &sales, &intent)).unwrap();
    let leases = block_on(engine.receive(outbox.queue(), 1, Duration::from_secs(60))).unwrap();
    leases[0].message.text.clone()
}

#[test]
fn pat_ec_4_a_message_with_any_invalid_value_does_not_stay_in_the_queue() {
    let genuine = genuine();
    let mut texts = mutants(&genuine, true);
    let whole: Value = serde_json::from_str(&genuine).unwrap();
    for intent in mutants(whole["Intent"].as_str().unwrap(), false) {
        let mut message = whole.clone();
        message["Intent"] = json!(intent);
        texts.push(portable(&message.to_string()));
    }
    // A message of the maximum length has no space for the number of attempts.
    let front = r#"{"Version":1,"Table":"Company","PartitionKey":"Sales","Intent":"{\"Version\":1,\"Source\":\"1\",\"Steps\":[{\"Do\":\"Call\",\"Name\":\"mail\",\"Version\":1,\"Payload\":\"[0,"#;
    let end = r#"]\"}]}"}"#;
    texts.push([front, &"1".repeat(TEXT_BYTES - front.len() - end.len()), end].concat());
    assert!(texts.len() > 100, "{}", texts.len());
    for text in texts {
        let (outbox, engine, time) = outbox();
        block_on(engine.create_table(&TableName::new("Company").unwrap())).unwrap();
        block_on(engine.put(outbox.queue(), PutMessage::new(text.as_str()))).unwrap();
        let worker = Worker::new(outbox.clone()).handler(Nothing);
        for _ in 0..20 {
            block_on(worker.run_until_idle()).unwrap();
            time.fetch_add(36_000_000_000, Ordering::SeqCst);
        }
        let backlog = block_on(outbox.backlog()).unwrap();
        let ended = (worker.metrics().done > 0, backlog.poison > 0);
        let shown = text.chars().take(2_000).collect::<String>();
        assert_eq!(backlog.waiting, 0, "{shown}");
        // Without an intent, the message refers to the rows of its partition. The partition contains no rows.
        let has_intent = |message: Value| message["Intent"] != Value::Null;
        let is_tried = serde_json::from_str(&text).is_ok_and(has_intent);
        assert!(!is_tried || ended.0 || ended.1, "the message was lost: {shown}");
    }
}

#[test]
fn pat_ec_4_a_message_with_an_invalid_intent_becomes_poison_at_once() {
    let whole: Value = serde_json::from_str(&genuine()).unwrap();
    let intent: Value = serde_json::from_str(whole["Intent"].as_str().unwrap()).unwrap();
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
        block_on(engine.create_table(&TableName::new("Company").unwrap())).unwrap();
        let mut message = whole.clone();
        message["Intent"] = json!(intent);
        block_on(engine.put(outbox.queue(), PutMessage::new(portable(&message.to_string())))).unwrap();
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
