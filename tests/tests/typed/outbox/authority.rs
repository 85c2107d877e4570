//! Tests a malicious user. The user has a SAS for one partition, and writes arbitrary data to this partition and to the queue. The data must not make workers
//! write to other partitions.

use std::collections::BTreeSet;
use std::time::Duration;

use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::queue::{PutMessage, QueueStore};
use table_core::row::RowWriter;
use table_core::{
    Entity, EntityKey, Operation, OperationKind, PartitionKey, QueueName, Result, Row, RowKey, TableName,
    TableStore, Transaction, ValueRef,
};
use table_patterns::EntityStore;
use table_patterns::outbox::{Intent, Message, OUTBOX_PREFIX, Outbox, REGISTRY, Step};
use table_patterns::work::{Archive, Delivery, Handler, Sweep, Worker};
use table_wire::auth::AccountKey;
use table_wire::sas::{SasVerifier, TablePermissions, TableSas};
use tests::time::Skew;

use crate::outbox::company::Company;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(ByCode, unique, table = "Codes", partition_key(tenant), row_key(code))]
#[index_entity(ByTag, at_most = 100, table = "Tags", partition_key("tags"), row_key(tag))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    code: String,
    tag: String,
}

#[derive(Serialize, Deserialize)]
struct Mail(String);

impl Message for Mail {
    const NAME: &'static str = "mail";
    const VERSION: u32 = 1;
}

/// A mail handler that fails the test if it receives a message forged by the malicious user.
struct NoMail;

impl Handler<Mail> for NoMail {
    async fn handle(&self, Mail(text): &Mail, _: Delivery<'_>) -> Result<()> {
        assert_eq!(text, "genuine");
        Ok(())
    }
}

fn ticket(tenant: &str, number: u32) -> Ticket {
    Ticket { tenant: tenant.into(), number, code: format!("{tenant}{number}"), tag: "red".into() }
}

fn row(code: &str) -> Row {
    let mut row = RowWriter::new();
    row.property("Code", ValueRef::String(code));
    row.finish()
}

/// Returns all rows of a table, except those in `contoso`, the partition of the malicious user.
fn rows(store: &Engine, table: &str) -> Vec<String> {
    let range = KeyRange { partition_key: TextRange::ALL, row_key: TextRange::ALL };
    let page = block_on(store.query(&TableName::new(table).unwrap(), &Query::new(range), None)).unwrap();
    let text = |row: table_core::query::EntityRef<'_>| {
        let properties = row.row.properties().collect::<Result<Vec<_>>>().unwrap();
        format!("{}/{} {properties:?}", row.partition_key, row.row_key)
    };
    page.rows.iter().filter(|row| row.partition_key != "contoso").map(text).collect()
}

/// Returns the rows of all tables, except outbox rows.
fn rows_of_all_tables(store: &Engine) -> Vec<String> {
    let tables = block_on(store.list_tables("", None, 1_000)).unwrap().names;
    let mut all = Vec::new();
    for table in tables {
        let page = block_on(store.query(&table, &Query::new(KeyRange::ALL), None)).unwrap();
        for row in page.rows.iter().filter(|row| !row.row_key.starts_with(OUTBOX_PREFIX)) {
            let properties = row.row.properties().collect::<Result<Vec<_>>>().unwrap();
            all.push(format!("{table}: {}/{} {properties:?}", row.partition_key, row.row_key));
        }
    }
    all
}

/// Returns a queue message for each row, in any table, that is not an outbox row.
fn works_of_other_rows(store: &Engine) -> Vec<String> {
    let tables = block_on(store.list_tables("", None, 1_000)).unwrap().names;
    let mut works = Vec::new();
    for table in tables {
        let page = block_on(store.query(&table, &Query::new(KeyRange::ALL), None)).unwrap();
        for row in page.rows.iter().filter(|row| !row.row_key.starts_with(OUTBOX_PREFIX)) {
            let (partition_key, row_key) = (row.partition_key, row.row_key);
            let work = serde_json::json!({"Version": 1, "Table": table.as_str(), "PartitionKey": partition_key, "RowKey": row_key});
            works.push(work.to_string());
        }
    }
    assert!(works.len() > 5, "{works:?}");
    works
}

fn intent(steps: &serde_json::Value) -> String {
    serde_json::json!({"Version": 1, "Source": "ticket_000001", "SourceVersion": u64::MAX / 2, "Steps": steps}).to_string()
}

/// Returns the JSON of a step, as stored in an intent.
fn text_of(outbox: &Outbox<Engine, Engine>, step: Step) -> serde_json::Value {
    let intent = Intent::of(RowKey::new("x").unwrap()).step(step);
    let OperationKind::Insert(row) = outbox.operation(&intent).unwrap().kind else { panic!("no insert") };
    let Some(ValueRef::Binary(text)) = row.view().find("Intent", &mut 0).unwrap() else { panic!("no text") };
    serde_json::from_slice::<serde_json::Value>(text).unwrap()["Steps"][0].clone()
}

/// Returns steps that would change partitions or tables to which the user has no access.
fn steps_beyond_the_partition(outbox: &Outbox<Engine, Engine>) -> Vec<serde_json::Value> {
    let (named, at) = (
        |name: &str| TableName::new(name).unwrap(),
        |partition: &str, row: &str| EntityKey::new(partition, row).unwrap(),
    );
    let (desk, text) = (named("Desk"), |step: Step| text_of(outbox, step));
    let elsewhere =
        |name: &str, payload: &str| serde_json::json!({"Do": "Call", "Name": name, "Payload": payload});
    let index = "elsewhere of Ticket";
    vec![
        text(
            Step::insert_or_merge(desk.clone(), at("fabrikam", "ticket_000001"), row("foreign")).unguarded(),
        ),
        text(Step::insert_or_replace(named("Salaries"), at("a", "b"), row("foreign"))),
        text(Step::delete_if_exists(named("Codes"), at("fabrikam", "fabrikam1")).unguarded()),
        serde_json::json!({"Do": "Call", "Name": "mail", "Version": 1, "Payload": "\"foreign\""}),
        serde_json::json!({"Do": "Call", "Name": "archive", "Version": 1, "Payload":
            "{\"From\":\"Desk\",\"To\":\"Salaries\",\"PartitionKey\":\"fabrikam\",\"RowKey\":\"ticket_000001\"}"}),
        // This step is for another tenant's entity. It has a version that no later change will reach.
        elsewhere(index, "[\"ByCode\",[\"fabrikam\",\"ticket_000001\"],[\"fabrikam\",\"fabrikam1\"]]"),
        // This step is for an entity of the user's own tenant, but with index keys of another tenant.
        elsewhere(
            index,
            "[\"ByCode\",[\"contoso\",\"ticket_000009\"],[\"fabrikam\",\"fabrikam1\"],[\"fabrikam\",\"none\"]]",
        ),
        elsewhere(
            index,
            "[\"ByTag\",[\"contoso\",\"ticket_000009\"],[\"tags\",\"red\"],[\"tags\",\"none\"]]",
        ),
        elsewhere(index, "[\"copies of it\",[\"fabrikam\",\"ticket_000001\"]]"),
        elsewhere(index, "no record"),
    ]
}

#[test]
fn pat_ec_4_a_writer_of_one_partition_cannot_make_a_worker_change_others() {
    let store = Engine::in_memory();
    let outbox = Outbox::new(store.clone(), store.clone(), QueueName::new("desk").unwrap());
    block_on(outbox.create_queues()).unwrap();
    let tickets =
        block_on(store.entities_with_outbox::<Ticket, _>(outbox.clone()).create_if_missing()).unwrap();
    for number in 1..3 {
        block_on(tickets.insert(&ticket("fabrikam", number))).unwrap();
    }
    let worker = Worker::new(outbox.clone())
        .with_index_handler(&tickets)
        .handler::<table_patterns::work::ArchiveStep>(Archive::new(store.clone()))
        .handler(NoMail);
    block_on(worker.run_until_idle()).unwrap();
    let desk = TableName::new("Desk").unwrap();
    block_on(store.create_table(&TableName::new("Salaries").unwrap())).unwrap();
    let before = ["Desk", "Codes", "Tags", "Salaries"].map(|table| rows(&store, table));

    // These messages and poison entries refer to the rows of entities, indexes, registries and guards. They treat these rows as recorded intents.
    for work in works_of_other_rows(&store) {
        block_on(store.put(outbox.queue(), PutMessage::new(work.as_str()))).unwrap();
        let entry = serde_json::json!({"Work": work, "Attempts": 5, "At": 0});
        block_on(store.put(&outbox.queue().poison().unwrap(), PutMessage::new(entry.to_string()))).unwrap();
    }
    let before_all = rows_of_all_tables(&store);
    block_on(worker.run_until_idle()).unwrap();
    block_on(outbox.requeue_poison_if(|entry| entry.work.contains("\"RowKey\""))).unwrap();
    block_on(worker.run_until_idle()).unwrap();
    block_on(outbox.discard_poison_if(|entry| entry.work.contains("\"RowKey\""))).unwrap();
    assert_eq!(rows_of_all_tables(&store), before_all);

    let key = AccountKey::new("contoso", "a2V5").unwrap();
    let sas = TableSas::table(desk.clone()).partition("contoso").unwrap();
    let sas = sas.allow(
        TablePermissions::READ
            .and(TablePermissions::ADD)
            .and(TablePermissions::UPDATE)
            .and(TablePermissions::DELETE),
    );
    let token = sas.valid_for(chrono::Utc::now(), Duration::from_secs(60 * 60)).sign(&key).unwrap();
    let bearer = SasVerifier::new(key).scoped(store.clone(), &token);
    let steps = steps_beyond_the_partition(&outbox);
    for (at, step) in steps.iter().enumerate() {
        let mut transaction =
            Transaction::new(PartitionKey::new("contoso").unwrap(), bearer.capabilities().limits).unwrap();
        let mut writer = RowWriter::new();
        writer.property("Intent", ValueRef::Binary(intent(&serde_json::json!([step])).as_bytes()));
        writer.property("Version", ValueRef::Int64(i64::MAX));
        if at % 2 == 0 {
            writer.property("Seal", ValueRef::String("00000000.AAAA"));
        }
        let row_key = RowKey::new(format!("{OUTBOX_PREFIX}{:016x}{at:016x}", 7)).unwrap();
        transaction.push(Operation { row_key, kind: OperationKind::Insert(writer.finish()) }).unwrap();
        block_on(bearer.submit(&desk, transaction)).unwrap();
        // The same step is sent as a queue message as well.
        let text = serde_json::json!({"Version": 1, "Table": "Desk", "PartitionKey": "contoso", "Intent": intent(&serde_json::json!([step]))});
        block_on(store.put(outbox.queue(), PutMessage::new(text.to_string()))).unwrap();
        let foreign = serde_json::json!({"Version": 1, "Table": "Desk", "PartitionKey": "fabrikam", "Intent": intent(&serde_json::json!([step])), "Seal": "x"});
        block_on(store.put(outbox.queue(), PutMessage::new(foreign.to_string()))).unwrap();
    }
    block_on(outbox.notify(&desk, &PartitionKey::new("contoso").unwrap())).unwrap();
    for _ in 0..3 {
        block_on(worker.run_until_idle()).unwrap();
        block_on(Sweep::new(outbox.clone()).min_age(Duration::ZERO).sweep_registered()).unwrap();
    }
    let after = ["Desk", "Codes", "Tags", "Salaries"].map(|table| rows(&store, table));
    assert_eq!(after, before);
    assert!(worker.metrics().poisoned > 0, "{:?}", worker.metrics());

    // Legitimate work is still done: a change to an entity in the same partition, and a genuine intent.
    block_on(tickets.insert(&ticket("contoso", 1))).unwrap();
    block_on(worker.run_until_idle()).unwrap();
    let found = block_on(tickets.get_eventual(Ticket::by_code("contoso", "contoso1"))).unwrap();
    assert_eq!(found.unwrap().owner().row_key.as_str(), "ticket_000001");
    let before = worker.metrics().done;
    let intent = Intent::of(RowKey::new("1").unwrap())
        .step(Step::insert_or_replace(
            TableName::new("Salaries").unwrap(),
            EntityKey::new("a", "b").unwrap(),
            row("genuine"),
        ))
        .step(Step::call(&Mail("genuine".into())).unwrap());
    let mut transaction =
        Transaction::new(PartitionKey::new("contoso").unwrap(), store.capabilities().limits).unwrap();
    outbox.record(&mut transaction, &intent).unwrap();
    block_on(outbox.submit(&desk, transaction)).unwrap();
    block_on(worker.run_until_idle()).unwrap();
    assert_eq!(
        (worker.metrics().done, rows(&store, "Salaries").len()),
        (before + 1, 2),
        "the row and its guard"
    );
}

#[test]
fn pat_ec_4_a_sealed_record_is_valid_only_at_its_place_with_any_program_key() {
    let store = Engine::in_memory();
    let (desk, queue) = (TableName::new("Desk").unwrap(), QueueName::new("desk").unwrap());
    block_on(store.create_table(&desk)).unwrap();
    let outbox = |keys: &[&str]| {
        let keys = keys.iter().map(|key| format!("the secret key {key}"));
        Outbox::new(store.clone(), store.clone(), queue.clone()).sealed_by(keys)
    };
    block_on(outbox(&["one"]).create_queues()).unwrap();
    let record = |keys: &[&str], number: u32| {
        let target = EntityKey::new("target", number.to_string()).unwrap();
        let step = Step::insert_or_replace(desk.clone(), target, row("x")).unguarded();
        let intent = Intent::of(RowKey::new("1").unwrap()).step(step);
        let mut transaction =
            Transaction::new(PartitionKey::new("contoso").unwrap(), store.capabilities().limits).unwrap();
        outbox(keys).record(&mut transaction, &intent).unwrap();
        block_on(outbox(keys).submit(&desk, transaction)).unwrap();
    };
    let done = |keys: &[&str]| {
        let worker = Worker::new(outbox(keys));
        block_on(worker.run_until_idle()).unwrap();
        (worker.metrics().done, worker.metrics().poisoned)
    };
    record(&["one"], 1);
    assert_eq!(done(&["two", "one"]), (1, 0), "the old key, after a rotation");
    record(&["two", "one"], 2);
    assert_eq!(done(&["one"]), (0, 1), "a key that the worker has not been given");
    // A user who may read a record copies it to another partition, to which the user may write.
    record(&["one"], 3);
    let range = KeyRange::rows("contoso", TextRange::prefix(OUTBOX_PREFIX));
    let page = block_on(store.query(&desk, &Query::new(range), None)).unwrap();
    let copied = page.rows.iter().next().unwrap();
    let mut transaction =
        Transaction::new(PartitionKey::new("fabrikam").unwrap(), store.capabilities().limits).unwrap();
    let mut writer = RowWriter::new();
    for property in copied.row.properties() {
        let property = property.unwrap();
        writer.property(property.name, property.value);
    }
    let kind = OperationKind::Insert(writer.finish());
    transaction.push(Operation { row_key: RowKey::new(copied.row_key).unwrap(), kind }).unwrap();
    block_on(store.submit(&desk, transaction)).unwrap();
    block_on(outbox(&["one"]).notify(&desk, &PartitionKey::new("fabrikam").unwrap())).unwrap();
    assert_eq!(done(&["one"]), (1, 1));
}

/// Tests that all programs that start later use a key that one program has added. Clocks that were ahead may have numbered the earlier keys.
#[test]
fn a_key_added_with_a_slow_clock_is_the_newest() {
    let company = Company::new();
    let registry = TableName::new(REGISTRY).unwrap();
    let mut known = BTreeSet::new();
    for skew in [Skew::None, Skew::Days(-9), Skew::Days(9), Skew::None, Skew::Backwards] {
        block_on(company.outbox_by(skew).rotate_key()).unwrap();
        let mut keys = company.all(&registry).into_iter().map(|(key, _)| key);
        let newest = keys.rfind(|key| key.partition_key.as_str() == "keys").unwrap();
        assert!(known.insert(newest.row_key.clone()), "{skew:?}");
    }
}
