//! Tests of the page about pending work when many partitions are registered, and of poison queues with several entries.

use serde::{Deserialize, Serialize};
use table_core::query::KeyRange;
use table_core::{
    Engine, IfMatch, Operation, OperationKind, PartitionKey, Query, QueueName, RowKey, TableEntity,
    TableName, TableStore, TableStoreExt, Transaction,
};
use table_patterns::outbox::{Intent, Message, OUTBOX_PREFIX, Outbox, Step};
use table_patterns::work::{Backoff, Delivery, Handler, Worker, WorkerOptions};

use crate::browser::{Browser, hidden};

#[derive(Serialize, Deserialize)]
struct Sent(u32);

impl Message for Sent {
    const NAME: &'static str = "sent";
    const VERSION: u32 = 1;
}

struct Failing;

impl Handler<Sent> for Failing {
    async fn handle(&self, _: &Sent, _: Delivery<'_>) -> table_core::Result<()> {
        Err(table_patterns::work::failure("mailbox full"))
    }
}

async fn outbox(engine: &Engine) -> Outbox<Engine, Engine> {
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("jobs").unwrap());
    engine.untyped("Desk").unwrap().create_if_missing().await.unwrap();
    outbox.create_queues().await.unwrap();
    outbox
}

async fn record(outbox: &Outbox<Engine, Engine>, partition: &str, number: u32) {
    let step = Step::call(&Sent(number)).unwrap();
    let intent = Intent::of(RowKey::new("source").unwrap()).step(step);
    let limits = outbox.store().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
    outbox.record(&mut transaction, &intent).unwrap();
    outbox.submit(&TableName::new("Desk").unwrap(), transaction).await.unwrap();
}

/// Deletes all pending work of a partition. The partition remains registered.
async fn finish(engine: &Engine, partition: &str) {
    let query = Query::new(KeyRange::partition(partition));
    let page = engine.query(&TableName::new("Desk").unwrap(), &query, None).await.unwrap();
    let limits = engine.capabilities().limits;
    let mut done = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
    for row in page.rows.iter().filter(|row| row.row_key.starts_with(OUTBOX_PREFIX)) {
        let row_key = RowKey::new(row.row_key).unwrap();
        done.push(Operation { row_key, kind: OperationKind::Delete(IfMatch::Any) }).unwrap();
    }
    engine.submit(&TableName::new("Desk").unwrap(), done).await.unwrap();
}

#[tokio::test]
async fn work_behind_many_quiet_partitions_is_found_and_figures_are_exact_or_bounds() {
    let engine = Engine::in_memory();
    let outbox = outbox(&engine).await;
    for partition in 0..130 {
        let name = format!("p{partition:03}");
        record(&outbox, &name, partition).await;
        if partition % 13 != 12 {
            finish(&engine, &name).await;
        }
    }
    let browser = Browser::reading(&engine).await;
    let (mut at, mut found) = (Some("/work".to_owned()), Vec::new());
    while let Some(address) = at {
        let page = browser.page(&address).await;
        let shown: Vec<_> = (0..130)
            .map(|number| format!("pk=p{number:03}&amp;under"))
            .filter(|link| page.contains(link))
            .collect();
        assert!(shown.len() == 10 || page.contains("+</dd>"), "the figures are lower bounds: {page}");
        found.extend(shown);
        at = page
            .split("class=\"btn next\" href=\"")
            .nth(1)
            .map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&"));
    }
    found.sort();
    let expected: Vec<_> = (0..10).map(|nth| format!("pk=p{:03}&amp;under", nth * 13 + 12)).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn several_poison_entries_are_requeued_together_and_hidden_ones_are_counted() {
    let engine = Engine::in_memory();
    let outbox = outbox(&engine).await;
    for number in 0..4 {
        record(&outbox, &format!("p{number}"), number).await;
    }
    let at_once = Backoff { initial: std::time::Duration::ZERO, max: std::time::Duration::ZERO };
    let options =
        WorkerOptions { poison_after: 1, step_attempts: 1, redelivery: at_once, ..WorkerOptions::default() };
    Worker::with_options(outbox, options).handler::<Sent>(Failing).run_until_idle().await.unwrap();
    let browser = Browser::writing(&engine).await;
    let page = browser.page("/work?queue=jobs").await;
    let boxes = page.split("type=\"checkbox\" ").skip(1);
    let works: Vec<String> = boxes.map(|rest| hidden(rest, "work")).collect();
    assert_eq!(works.len(), 4, "{page}");
    let csrf = hidden(&page, "csrf");
    let unmarked = browser.post("/work/requeue", &[("csrf", &csrf), ("queue", "jobs")]).await;
    assert!(unmarked.status == 400 && unmarked.body.contains("no entry is marked"), "{}", unmarked.body);
    let fields = [("csrf", csrf.as_str()), ("queue", "jobs"), ("work", &works[1]), ("work", &works[3])];
    let requeued = browser.post("/work/requeue", &fields).await;
    assert_eq!(requeued.status, 303, "{}", requeued.body);
    let page = browser.page(requeued.location()).await;
    assert!(!page.contains("The queue has no poison"), "{page}");
    assert!(page.contains("2 further entries are not shown"), "{page}");
}

#[tokio::test]
async fn internal_rows_of_the_library_are_neither_marked_nor_changed() {
    let engine = Engine::in_memory();
    let outbox = outbox(&engine).await;
    record(&outbox, "p", 1).await;
    engine.untyped("Desk").unwrap().insert(&TableEntity::new("p", "plain").unwrap()).await.unwrap();
    let browser = Browser::writing(&engine).await;
    let page = browser.page("/t/Desk/p?pk=p").await;
    assert_eq!(page.matches("name=\"row\" form=\"marked\"").count(), 1, "{page}");
    let key = page.split("/e?pk=p&amp;rk=%EF%BF%BC").nth(1).unwrap().split('"').next().unwrap();
    let address = format!("/t/Desk/e?pk=p&rk=%EF%BF%BC{key}");
    assert!(browser.page(&address).await.contains("an internal row of the library"));
    let form = browser.page(&address.replace("/e?", "/edit?")).await;
    let fields = crate::browser::fields(&form, "action=\"/t/Desk/delete\"");
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refused = browser.post("/t/Desk/delete", &[&fields[..], &[("sure", "1")]].concat()).await;
    assert!(refused.status == 409 && refused.body.contains("is an internal row"), "{}", refused.body);
    assert_eq!(outbox.backlog().await.unwrap().waiting, 1);
}
