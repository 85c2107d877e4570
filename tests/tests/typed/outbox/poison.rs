//! Tests work that fails: transient faults, and poison (PAT-EC-4, PAT-EC-5, QUE-20). Poison is work that is no longer attempted after repeated failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pollster::block_on;
use serde::{Deserialize, Serialize};
use table_core::query::Select;
use table_core::queue::{PutMessage, QueueStore};
use table_core::{Error, ErrorCode, PartitionKey, Result, RowKey, TableStore};
use table_patterns::outbox::{Intent, Message, Step};
use table_patterns::work::{Delivery, Handler, Sweep};
use tests::faults::Control;

use crate::outbox::company::{Company, employees};

/// A handler that fails `failures` times and then succeeds.
#[derive(Clone, Default)]
struct Mail {
    failures: Arc<AtomicU32>,
    sent: Arc<AtomicU32>,
}

#[derive(Serialize, Deserialize)]
struct Hello(String);

impl Message for Hello {
    const NAME: &'static str = "mail";
    const VERSION: u32 = 1;
}

impl Handler<Hello> for Mail {
    async fn handle(&self, Hello(text): &Hello, call: Delivery<'_>) -> Result<()> {
        call.keep().await?;
        assert_eq!((text.as_str(), call.source.as_str()), ("hello", "1"));
        let left = self.failures.load(Ordering::SeqCst);
        if left > 0 {
            self.failures.store(left - 1, Ordering::SeqCst);
            return Err(Error::new(ErrorCode::Unsupported, "the mail server says no"));
        }
        self.sent.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

fn sales() -> PartitionKey {
    PartitionKey::new("Sales").unwrap()
}

fn record_mail(company: &Company) {
    let outbox = company.outbox(&Control::default());
    let limits = table_core::limits::Limits::PORTABLE;
    let mut transaction = table_core::Transaction::new(sales(), limits).unwrap();
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Hello("hello".into())).unwrap());
    outbox.record(&mut transaction, &intent).unwrap();
    block_on(outbox.submit(&employees(), transaction)).unwrap();
}

/// Runs a worker until no message is visible. Lets time pass between the runs.
fn deliveries(
    company: &Company,
    worker: &table_patterns::work::Worker<crate::outbox::company::Store, crate::outbox::company::Store>,
) {
    for _ in 0..12 {
        block_on(worker.run_until_idle()).unwrap();
        company.pass(Duration::from_secs(700));
    }
}

#[test]
fn pat_ec_4_an_intent_is_poison_after_five_failures_and_can_be_requeued() {
    let (company, mail) = (Company::new(), Mail::default());
    mail.failures.store(u32::MAX, Ordering::SeqCst);
    record_mail(&company);
    let worker = company.worker(&Control::default()).handler(mail.clone());
    deliveries(&company, &worker);
    assert_eq!(u32::MAX - mail.failures.load(Ordering::SeqCst), 5); // no sixth attempt
    let metrics = worker.metrics();
    assert_eq!((metrics.failures, metrics.poisoned, metrics.done), (5, 1, 0));

    let outbox = company.outbox(&Control::default());
    let entries = block_on(outbox.poison(32)).unwrap();
    assert_eq!((entries.len(), entries[0].attempts), (1, 5));
    assert!(entries[0].error.as_ref().unwrap().contains("the mail server says no"));
    assert_eq!(block_on(outbox.backlog()).unwrap().poison, 1);

    // A sweep neither requeues the intent nor loses it.
    let report = block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap();
    assert_eq!((report.pending, report.prompted), (0, 0));

    mail.failures.store(0, Ordering::SeqCst);
    assert_eq!(block_on(outbox.requeue_poison()).unwrap().unwrap(), entries[0]);
    assert!(block_on(outbox.requeue_poison()).unwrap().is_none());
    deliveries(&company, &worker);
    assert_eq!(mail.sent.load(Ordering::SeqCst), 1);
    company.assert_settled();
}

#[test]
fn pat_ec_4_an_intent_that_never_failed_is_not_poisoned_by_its_neighbour() {
    let (company, mail) = (Company::new(), Mail::default());
    mail.failures.store(u32::MAX, Ordering::SeqCst);
    record_mail(&company);
    let worker = company.worker(&Control::default()).handler(mail);
    for _ in 0..5 {
        assert_eq!(block_on(worker.run_once()).unwrap(), 1);
        company.pass(Duration::from_secs(12 * 60));
    }
    // The row is about to become poison. Its message refers to the entire partition. The message for the new row was lost.
    let alive = company.outbox(&Control::default());
    let old = block_on(alive.queues().receive(alive.queue(), 1, Duration::from_secs(60))).unwrap();
    block_on(company.change(&alive, "1", Some(("ada", 36)))).unwrap();
    let new = block_on(alive.queues().receive(alive.queue(), 1, Duration::from_secs(60))).unwrap();
    block_on(alive.queues().delete(alive.queue(), &new[0].message.id, &new[0].receipt)).unwrap();
    assert_eq!(old[0].message.dequeue_count, 6);
    deliveries(&company, &worker);
    assert_eq!(block_on(alive.backlog()).unwrap().poison, 1);
    assert_eq!((company.pending(), company.directory()), (1, company.expected()));
}

#[test]
fn pat_ec_4_an_unknown_message_and_an_unknown_handler_are_poison_with_their_texts() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(outbox.queues().put(outbox.queue(), PutMessage::new("what is this?"))).unwrap();
    record_mail(&company);
    let worker = company.worker(&Control::default());
    deliveries(&company, &worker);
    let entries = block_on(outbox.poison(32)).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!((entries[0].work.as_str(), entries[0].attempts), ("what is this?", 1));
    assert!(entries[1].error.as_ref().unwrap().contains("a message `mail`, for which no handler"));
    assert_eq!(block_on(outbox.discard_poison()).unwrap().unwrap(), entries[0]);
    assert_eq!(block_on(outbox.poison(32)).unwrap().len(), 1);
}

#[test]
fn pat_ec_5_transient_faults_are_retried_within_the_delivery() {
    let company = Company::new();
    let alive = company.outbox(&Control::default());
    block_on(company.change(&alive, "1", Some(("ada", 36)))).unwrap();
    let worker = company.worker(&Control::busy(3));
    for _ in 0..8 {
        let _ = block_on(worker.run_once());
        company.pass(Duration::from_secs(60));
    }
    assert!(worker.metrics().retries > 0);
    assert_eq!(worker.metrics().failures, 0);
    company.assert_settled();
}

#[test]
fn pat_ec_1_an_intent_without_a_write_is_recorded_and_done() {
    let (company, mail) = (Company::new(), Mail::default());
    let outbox = company.outbox(&Control::default());
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Hello("hello".into())).unwrap());
    block_on(outbox.enqueue(&employees(), &sales(), &intent)).unwrap();
    let worker = company.worker(&Control::default()).handler(mail.clone());
    deliveries(&company, &worker);
    assert_eq!(mail.sent.load(Ordering::SeqCst), 1);

    let key = table_core::EntityKey::new("p", "r").unwrap();
    let delete = Intent::of(RowKey::new("1").unwrap()).step(Step::delete_if_exists(employees(), key.clone()));
    let row = table_core::row::RowWriter::new().finish();
    let put =
        Intent::of(RowKey::new("1").unwrap()).step(Step::insert_or_replace(employees(), key.clone(), row));
    let enqueue = |intent: &Intent| {
        block_on(outbox.enqueue(&employees(), &sales(), intent)).unwrap();
        deliveries(&company, &worker);
        block_on(company.engine.get(&employees(), &key, &Select::All)).unwrap().is_some()
    };
    // With explicit versions, the later change wins, regardless of the order of delivery.
    assert!(!enqueue(&delete.clone().version(2)));
    assert!(!enqueue(&put.clone().version(1)));
    assert_eq!(worker.metrics().stale, 1);
    // Otherwise, the version is the time at which the intent was recorded.
    assert!(enqueue(&put));
    assert!(!enqueue(&delete));
    assert_eq!(worker.metrics().stale, 1);
}

#[test]
fn pat_ec_4_a_delivery_that_is_not_processed_uses_up_no_attempt() {
    let (company, mail) = (Company::new(), Mail::default());
    mail.failures.store(u32::MAX, Ordering::SeqCst);
    let outbox = company.outbox(&Control::default());
    let intent = Intent::of(RowKey::new("1").unwrap()).step(Step::call(&Hello("hello".into())).unwrap());
    block_on(outbox.enqueue(&employees(), &sales(), &intent)).unwrap();
    for _ in 0..10 {
        block_on(outbox.queues().receive(outbox.queue(), 1, Duration::from_secs(1))).unwrap();
        company.pass(Duration::from_secs(2));
    }
    let worker = company.worker(&Control::default()).handler(mail.clone());
    deliveries(&company, &worker);
    assert_eq!(u32::MAX - mail.failures.load(Ordering::SeqCst), 5);
    let entry = block_on(outbox.poison(1)).unwrap().remove(0);
    assert_eq!(entry.attempts, 5);
    assert!(entry.error.unwrap().contains("the mail server says no"));
}

#[test]
fn que_20_lag_and_depth_are_plain_numbers() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
    assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 1);
    company.pass(Duration::from_secs(5));
    let worker = company.worker(&Control::default());
    block_on(worker.run_until_idle()).unwrap();
    let metrics = worker.metrics();
    assert_eq!((metrics.received, metrics.done, metrics.steps), (1, 1, 1));
    assert!(metrics.lag >= Duration::from_millis(4_999) && metrics.lag <= Duration::from_secs(5));
    assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 0);
}

/// A message in the form written by the program's next version.
#[derive(Serialize, Deserialize)]
struct Later(String);

impl Message for Later {
    const NAME: &'static str = Hello::NAME;
    const VERSION: u32 = 2;
}

#[derive(Serialize, Deserialize)]
struct Mistaken {
    words: u32,
}

impl Message for Mistaken {
    const NAME: &'static str = Hello::NAME;
    const VERSION: u32 = 1;
}

/// Records an intent with a single step in a transaction.
fn record_step(company: &Company, step: Step) {
    let outbox = company.outbox(&Control::default());
    let limits = table_core::limits::Limits::PORTABLE;
    let mut transaction = table_core::Transaction::new(sales(), limits).unwrap();
    outbox.record(&mut transaction, &Intent::of(RowKey::new("1").unwrap()).step(step)).unwrap();
    block_on(outbox.submit(&employees(), transaction)).unwrap();
}

#[test]
fn pat_ec_4_a_message_that_cannot_be_read_is_poison_at_once_with_its_reason() {
    let (company, mail) = (Company::new(), Mail::default());
    let outbox = company.outbox(&Control::default());
    record_step(&company, Step::call(&Mistaken { words: 3 }).unwrap());
    let worker = company.worker(&Control::default()).handler(mail.clone());
    block_on(worker.run_until_idle()).unwrap();
    let entries = block_on(outbox.poison(32)).unwrap();
    let metrics = worker.metrics();
    assert_eq!((entries.len(), entries[0].attempts), (1, 1));
    assert_eq!((metrics.failures, metrics.poisoned, metrics.done), (1, 1, 0));
    let error = entries[0].error.as_ref().unwrap();
    assert!(
        error.contains("is not a message `mail` of version 1") && error.contains("invalid type"),
        "{error}"
    );
    // No sweep requeues the poisoned intent.
    assert_eq!(block_on(Sweep::new(outbox.clone()).sweep_registered()).unwrap().prompted, 0);
    // The poisoned intent remains, and an operator can requeue it.
    assert_eq!(block_on(outbox.requeue_poison()).unwrap().as_ref(), entries.first());
    deliveries(&company, &worker);
    assert_eq!(block_on(outbox.poison(32)).unwrap().len(), 1);
    assert_eq!(mail.sent.load(Ordering::SeqCst), 0);
}

#[test]
fn pat_ec_2_a_later_version_waits_for_a_worker_that_knows_it() {
    /// A handler of the next version of the program. It accepts messages of both versions.
    struct Next(Arc<AtomicU32>);

    impl Handler<Later> for Next {
        async fn handle(&self, Later(text): &Later, _: Delivery<'_>) -> Result<()> {
            assert!(["old", "new"].contains(&text.as_str()));
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    }

    let (company, mail) = (Company::new(), Mail::default());
    record_step(&company, Step::call(&Later("new".into())).unwrap());
    let worker = company.worker(&Control::default()).handler(mail);
    for _ in 0..2 {
        block_on(worker.run_until_idle()).unwrap();
        company.pass(Duration::from_secs(700));
    }
    let outbox = company.outbox(&Control::default());
    // A worker of the older version skips the row, and no attempt is counted.
    let poison = block_on(outbox.poison(32)).unwrap().len();
    assert_eq!((worker.metrics().failures, poison, company.pending()), (0, 0, 1));
    record_step(&company, Step::call(&Hello("old".into())).unwrap());
    let taken = Arc::new(AtomicU32::new(0));
    let next = company.worker(&Control::default()).handler(Next(Arc::clone(&taken)));
    deliveries(&company, &next);
    assert_eq!((taken.load(Ordering::SeqCst), company.pending()), (2, 0));
}
