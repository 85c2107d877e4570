//! Tests the procedures for rotating the keys with which intents are sealed (authenticated).

use std::time::Duration;

use pollster::block_on;
use table_patterns::outbox::{Intent, Outbox, Step};
use table_patterns::row::RowWriter;
use table_patterns::work::Worker;
use table_patterns::{
    Engine, EntityKey, PartitionKey, QueueName, RowKey, TableName, TableStore, Transaction,
};

use crate::page::Procedure;
use crate::time::Time;

type Program = Outbox<Engine, Engine>;

/// A store that several programs use.
struct Desk {
    time: Time,
    store: Engine,
}

impl Desk {
    fn new() -> Self {
        let time = Time::new();
        let desk = Self { store: time.engine(), time };
        block_on(desk.store.create_table(&table())).unwrap();
        block_on(desk.start().create_queues()).unwrap();
        desk
    }

    /// Starts a program that uses the keys that the store contains.
    fn start(&self) -> Program {
        Outbox::with_runtime(self.store.clone(), self.store.clone(), queue(), self.time.runtime())
    }

    /// Starts a program with the given keys.
    fn start_with(&self, keys: &[&str]) -> Program {
        self.start().sealed_by(keys.iter().map(|key| format!("the secret key {key}")))
    }

    /// Starts a program whose clock is ahead by the given time.
    fn start_ahead(&self, by: Duration) -> Program {
        let runtime = self.time.runtime().clock(self.time.ahead(by));
        Outbox::with_runtime(self.store.clone(), self.store.clone(), queue(), runtime)
    }
}

fn table() -> TableName {
    TableName::new("Desk").unwrap()
}

fn queue() -> QueueName {
    QueueName::new("desk").unwrap()
}

/// Records an intent in a program.
fn record(program: &Program) {
    let limits = program.store().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("contoso").unwrap(), limits).unwrap();
    let target = EntityKey::new("fabrikam", "1").unwrap();
    let step = Step::insert_or_replace(table(), target, RowWriter::new().finish()).unguarded();
    program.record(&mut transaction, &Intent::of(RowKey::new("1").unwrap()).step(step)).unwrap();
    block_on(program.submit(&table(), transaction)).unwrap();
}

/// Runs a program until it is idle. Returns the number of intents that it completed and the number that became poison.
fn work(program: &Program) -> (u64, u64) {
    let worker = Worker::new(program.clone());
    block_on(worker.run_until_idle()).unwrap();
    (worker.metrics().done, worker.metrics().poisoned)
}

#[test]
fn stored_keys_are_rotated_while_programs_run() {
    let mut page = Procedure::of("book/running.md", "Keys of the outbox");
    let desk = Desk::new();
    record(&desk.start());
    assert_eq!(work(&desk.start()), (1, 0), "the first intent creates a key");
    // Keys were rotated earlier, on a machine whose clock is ahead.
    block_on(desk.start_ahead(Duration::from_secs(60 * 60)).rotate_key()).unwrap();
    let (writer, worker) = (desk.start(), desk.start());
    record(&writer);
    assert_eq!(work(&worker), (1, 0), "both have read the keys");

    page.step("To rotate stored keys, call `Outbox::rotate_key`.");
    record(&writer);
    block_on(desk.start().rotate_key()).unwrap();

    page.step("All programs accept the new key immediately.");
    record(&writer);
    let restarted = desk.start();
    record(&restarted);
    assert_eq!(work(&worker), (3, 0), "of the old key, before and after the rotation, and of the new one");

    page.step(
        "When all programs have been restarted and the intents sealed with older keys are done, call `Outbox::remove_old_keys`",
    );
    assert_eq!(block_on(restarted.remove_old_keys()).unwrap(), 2);
    assert_eq!(block_on(restarted.remove_old_keys()).unwrap(), 0);
    record(&restarted);
    assert_eq!(work(&worker), (1, 0));

    page.step("restart the workers again. From then on, they refuse the old keys.");
    record(&restarted);
    assert_eq!(work(&desk.start()), (1, 0));
    record(&writer);
    assert_eq!(work(&desk.start()), (0, 1), "the writer has the old key");
}

/// Checks that, during a deployment of `releases`, programs before and after their restart accept each other's intents. Returns `true` if they do.
fn deploy(desk: &Desk, releases: [&[&str]; 2]) -> bool {
    let pairs = releases.iter().flat_map(|writer| releases.iter().map(move |worker| (writer, worker)));
    pairs.into_iter().all(|(writer, worker)| {
        record(&desk.start_with(writer));
        work(&desk.start_with(worker)) == (1, 0)
    })
}

#[test]
fn given_keys_are_rotated_by_deployments_without_refused_intents() {
    let mut page = Procedure::of("book/running.md", "Keys of the outbox");
    let desk = Desk::new();

    page.step(
        "To rotate keys that programs pass to `Outbox::sealed_by`, first deploy all programs with the new key after the old one.",
    );
    assert!(deploy(&desk, [&["old"], &["old", "new"]]));
    page.step("In a second deployment, pass the new key first");
    assert!(deploy(&desk, [&["old", "new"], &["new", "old"]]));
    page.step("Remove the old key in a third deployment, once the intents sealed with it are done.");
    assert!(deploy(&desk, [&["new", "old"], &["new"]]));

    page.step("With only two deployments, a worker would refuse the intents of the first program that seals with the new key.");
    assert!(!deploy(&desk, [&["old"], &["new", "old"]]));
    page.step("Intents sealed with a removed key become poison; pass the old key again and requeue them.");
    block_on(desk.start_with(&["new", "old"]).requeue_poison()).unwrap();
    assert_eq!(work(&desk.start_with(&["new", "old"])), (1, 0));
}
