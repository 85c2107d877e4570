//! Tests a release that replaces a required property with an optional one, while the earlier release continues to write. The copies of each release lack a
//! required property of the other release, and have a property that the other does not declare. Both releases must maintain all copies.

mod random;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::table::LEASE;
use table_core::{Entity, EntityKey, IfMatch, QueueName, TableEntity, TableStore, TableStoreExt};
use table_patterns::index::FindingKind;
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;
use table_patterns::{Entities, EntityStore};
use tests::time::Time;

use super::settling::shared;

macro_rules! release {
    ($release:ident { $property:ident: $type:ty } $index:meta, $directory:meta) => {
        pub(super) mod $release {
            #[derive(table_core::Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Staff")]
            #[partition_key(department)]
            #[row_key("empid_", id)]
            #[$index]
            #[$directory]
            #[index(ByGrade, row_key("grade_", grade, "_", id))]
            pub(crate) struct Employee {
                pub department: String,
                #[digits(4)]
                pub id: u32,
                pub email: String,
                #[digits(2)]
                pub grade: u8,
                pub note: String,
                pub $property: $type,
            }
        }
    };
}

release!(before { phone: String }
    index(ByEmail, unique, row_key("email_", email)),
    index(Directory, unique, table = "Directory", partition_key("in_", department), row_key(email)));
release!(after { mobile: Option<String> }
    index(ByEmail, unique, row_key("email_", email)),
    index(Directory, unique, table = "Directory", partition_key("in_", department), row_key(email)));
// Copies of the first release have only `phone` in addition to the key of their entity, and copies of the second one only `note`.
release!(with_phones { phone: String }
    index(ByEmail, unique, row_key("email_", email), include(phone)),
    index(Directory, unique, table = "Directory", partition_key("in_", department), row_key(email), include(phone)));
release!(with_notes { mobile: Option<String> }
    index(ByEmail, unique, row_key("email_", email), include(note)),
    index(Directory, unique, table = "Directory", partition_key("in_", department), row_key(email), include(note)));

type Work<S> = Outbox<S, Engine>;
type Older<S> = Entities<before::Employee, S, Work<S>>;
type Newer<S> = Entities<after::Employee, S, Work<S>>;

fn employee(id: u32, email: &str) -> before::Employee {
    let (department, email) = ("Sales".to_owned(), email.to_owned());
    before::Employee { department, id, email, grade: 7, note: "a".into(), phone: "7".into() }
}

fn outbox<S: TableStore + Clone>(time: &Time, store: &S, engine: &Engine) -> Work<S> {
    let queue = QueueName::new("work").unwrap();
    let outbox = Outbox::with_runtime(store.clone(), engine.clone(), queue, time.runtime());
    block_on(outbox.create_queues()).unwrap();
    outbox
}

async fn open<E, S>(time: &Time, outbox: &Work<S>) -> Entities<E, S, Work<S>>
where
    E: Entity + Send + Sync,
    S: TableStore + Clone + 'static,
{
    let store = outbox.store().clone();
    let entities = store.entities_with_outbox(outbox.clone()).with_runtime(time.runtime());
    entities.create_if_missing().await.unwrap()
}

/// Lets a worker process all work. Nothing may fail.
async fn work<S: TableStore + Clone + 'static>(outbox: &Work<S>, worker: Worker<S, Engine>) {
    worker.run_until_idle().await.unwrap();
    assert_eq!((worker.metrics().failures, worker.metrics().poisoned), (0, 0), "{:?}", worker.metrics());
    let backlog = outbox.backlog().await.unwrap();
    assert_eq!((backlog.poison, backlog.waiting), (0, 0));
}

/// A fixture in which the older release has inserted an employee, and the newer one has updated it. All work is done.
struct Company<S> {
    outbox: Work<S>,
    old: Older<S>,
    new: Newer<S>,
}

impl<S: TableStore + Clone + 'static> Company<S> {
    async fn open(time: &Time, store: &S, engine: &Engine) -> Self {
        let outbox = outbox(time, store, engine);
        let old = open::<before::Employee, _>(time, &outbox).await;
        old.insert(&employee(1, "ada")).await.unwrap();
        let new = open::<after::Employee, _>(time, &outbox).await;
        new.update(after::Employee::key("Sales", 1), |one| one.mobile = Some("8".into())).await.unwrap();
        work(&outbox, Worker::new(outbox.clone()).with_index_handler(&new)).await;
        time.pass(LEASE * 2);
        Self { outbox, old, new }
    }

    async fn work_of_older(&self) {
        work(&self.outbox, Worker::new(self.outbox.clone()).with_index_handler(&self.old)).await;
    }

    /// Returns the notes that the newer release finds under an e-mail address, in both indexes.
    async fn notes(&self, email: &str) -> (Option<String>, Option<String>) {
        let own = self.new.get(after::Employee::by_email("Sales", email)).await.unwrap();
        let directory = self.new.get_eventual(after::Employee::directory("Sales", email)).await.unwrap();
        let note = directory.map(|found| found.possibly_stale().note.clone());
        (own.map(|found| found.note.clone()), note)
    }

    /// Checks that the indexes are consistent, except that copies of the older release still have the removed property.
    async fn check(&self) {
        let report = self.new.check().run().await.unwrap();
        assert!(report.findings.iter().all(|one| one.kind == FindingKind::Stale), "{report:?}");
    }
}

/// Runs a test on two stores. Only this process can use the first store. Other processes can use the second one.
fn on_both_stores(
    test: impl AsyncFn(Company<Engine>),
    test_shared: impl AsyncFn(Company<table_core::testing::LimitedStore<Engine>>),
) {
    let time = Time::default();
    let engine = time.engine();
    block_on(async { test(Company::open(&time, &engine, &engine).await).await });
    let time = Time::default();
    let engine = time.engine();
    let store = shared(engine.clone());
    block_on(async { test_shared(Company::open(&time, &store, &engine).await).await });
}

async fn updates<S: TableStore + Clone + 'static>(company: Company<S>) {
    let key = || before::Employee::key("Sales", 1);
    company.old.update(key(), |one| one.note = "b".into()).await.unwrap();
    company.work_of_older().await;
    assert_eq!(company.notes("ada").await, (Some("b".into()), Some("b".into())));
    let found = company.new.get(after::Employee::by_email("Sales", "ada")).await.unwrap().unwrap();
    assert_eq!(found.mobile.as_deref(), Some("8"));
    company.check().await;
}

#[test]
fn evo_3_an_update_by_the_older_release_changes_a_copy_of_the_newer_one() {
    on_both_stores(updates, updates);
}

async fn moves<S: TableStore + Clone + 'static>(company: Company<S>) {
    let key = || before::Employee::key("Sales", 1);
    company.old.update(key(), |one| one.email = "lovelace".into()).await.unwrap();
    company.work_of_older().await;
    assert_eq!(company.notes("ada").await, (None, None));
    assert_eq!(company.notes("lovelace").await, (Some("a".into()), Some("a".into())));
    company.check().await;
    company.old.insert(&employee(2, "ada")).await.unwrap();
    company.new.update(after::Employee::key("Sales", 2), |one| one.note = "c".into()).await.unwrap();
    company.work_of_older().await;
    assert_eq!(company.notes("ada").await, (Some("c".into()), Some("c".into())));
    company.old.delete(before::Employee::key("Sales", 2), IfMatch::Any).await.unwrap();
    company.work_of_older().await;
    assert_eq!(company.notes("ada").await, (None, None));
    company.check().await;
}

#[test]
fn evo_3_the_older_release_moves_and_removes_copies_of_the_newer_one() {
    on_both_stores(moves, moves);
}

async fn repairs<S: TableStore + Clone + 'static>(company: Company<S>) {
    let report = company.old.check().run().await.unwrap();
    assert!(report.findings.iter().all(|one| one.kind == FindingKind::Stale), "{report:?}");
    let report = company.old.check().repair().run().await.unwrap();
    assert!(report.findings.iter().all(|one| one.kind == FindingKind::Stale && one.repaired), "{report:?}");
    assert_eq!(company.notes("ada").await, (Some("a".into()), Some("a".into())));
    company.check().await;
}

#[test]
fn evo_3_a_check_by_the_older_release_keeps_copies_of_the_newer_one() {
    on_both_stores(repairs, repairs);
}

/// Tests that an older release does not replace a row that no release has written as a copy. The row may even have a property of the newer release.
#[test]
fn pat_het_2_an_older_release_replaces_no_entity_that_has_a_newer_property() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let company = Company::open(&time, &store, &store).await;
        let rows = store.untyped("Staff").unwrap();
        let invoice = TableEntity::new("Sales", "grade_09_0001").unwrap();
        rows.insert(&invoice.with("Mobile", "8").with("Amount", 5)).await.unwrap();
        let key = || before::Employee::key("Sales", 1);
        let error = company.old.update(key(), |one| one.grade = 9).await.unwrap_err();
        assert_eq!(error.rule(), Some("PAT-HET-2"), "{error}");
        let key = EntityKey::new("Sales", "grade_09_0001").unwrap();
        assert!(rows.get(&key).await.unwrap().unwrap().get("Amount").is_some());
    });
}

/// Tests the workers of a newer release. Some copies have only a property that this release has removed. The workers must replace them.
#[test]
fn evo_24_copies_with_other_included_properties_are_replaced_before_the_backfill() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let outbox = outbox(&time, &store, &store);
        let old = open::<with_phones::Employee, _>(&time, &outbox).await;
        let before::Employee { department, id, email, grade, note, phone } = employee(1, "ada");
        old.insert(&with_phones::Employee { department, id, email, grade, note, phone }).await.unwrap();
        work(&outbox, Worker::new(outbox.clone()).with_index_handler(&old)).await;
        store.table::<with_notes::Employee>().accept_schema("all readers are ended").await.unwrap();
        let new = open::<with_notes::Employee, _>(&time, &outbox).await;
        let key = || with_notes::Employee::key("Sales", 1);
        new.update(key(), |one| one.note = "b".into()).await.unwrap();
        work(&outbox, Worker::new(outbox.clone()).with_index_handler(&new)).await;
        for (table, partition_key, row_key) in
            [("Staff", "Sales", "email_ada"), ("Directory", "in_Sales", "ada")]
        {
            let key = EntityKey::new(partition_key, row_key).unwrap();
            let copy = store.untyped(table).unwrap().get(&key).await.unwrap().unwrap();
            assert_eq!(copy.get("Note"), Some(&"b".into()), "{copy:?}");
        }
        new.delete(key(), IfMatch::Any).await.unwrap();
        work(&outbox, Worker::new(outbox.clone()).with_index_handler(&new)).await;
        assert!(new.check().run().await.unwrap().is_clean());
    });
}
