//! Tests the patterns on a store whose Timestamps are whole seconds. Guarded outbox steps without a version are rejected. Everything else must work.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::{Clock, Engine, EngineOptions};
use table_core::row::RowWriter;
use table_core::{
    Entity, EntityKey, Error, ErrorCode, IfMatch, PartitionKey, QueueName, Result, TableName, TableStore,
    ValueRef,
};
use table_patterns::Entities;
use table_patterns::EntityStore;
use table_patterns::feed::Cursor;
use table_patterns::outbox::{Intent, Outbox, Step};
use table_patterns::view::{Projection, View, ViewTable};
use table_patterns::work::Worker;
use tests::seconds::Seconds;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", feed)]
#[partition_key(department)]
#[row_key(id)]
struct Watched {
    department: String,
    #[digits(3)]
    id: u32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(department)]
#[row_key("headcount")]
struct Headcount {
    department: String,
    employees: i64,
}

struct Headcounts;

impl View for Headcounts {
    type Source = Watched;
    type Row = Headcount;

    fn project(employee: &Watched, view: &mut Projection<Headcount>) -> Result<()> {
        view.add(Headcount::key(&employee.department), Headcount::EMPLOYEES, 1)
    }
}

/// Returns a store whose clock is stopped. With each write, the engine still increments the ticks, by less than a second in total.
fn one_second() -> Seconds<Engine> {
    Seconds::new(EngineOptions::new().clock(Clock::new(|| 639_307_584_000_000_000)).in_memory())
}

fn refused(error: &Error, pattern: &str, instead: &str) {
    assert_eq!((error.code(), error.rule()), (ErrorCode::Unsupported, Some("ETAG-6")), "{error}");
    let text = error.to_string();
    assert!(text.contains(pattern) && text.contains("steps of 1s") && text.contains(instead), "{text}");
}

#[test]
fn etag_6_feeds_and_views_need_no_timestamps() {
    block_on(async {
        let store = one_second();
        let employees = store.entities::<Watched>().create_if_missing().await.unwrap();
        let view = ViewTable::<Headcounts, _>::new(store.clone()).create_if_missing().await.unwrap();
        view.rebuild().run().await.unwrap();
        for id in 1..=20 {
            employees.insert(&Watched { department: "Sales".into(), id }).await.unwrap();
        }
        employees.delete(Watched::key("Sales", 7), IfMatch::Any).await.unwrap();
        let (table, sales) = (TableName::new("Company").unwrap(), PartitionKey::new("Sales").unwrap());
        let entries = employees.feed().read(&table, &sales, &Cursor::default(), 100).await.unwrap();
        assert_eq!((entries.len(), entries[20].kind.as_str()), (21, "deleted"));
        view.catch_up(100).await.unwrap();
        let sum = view.table().await.unwrap().get(Headcount::key("Sales")).await.unwrap().unwrap();
        assert_eq!(sum.employees, 19);
    });
}

#[test]
fn etag_6_and_pat_ec_2_guarded_steps_are_ordered_by_their_versions_or_refused() {
    block_on(async {
        let store = one_second();
        let (source, directory) = (TableName::new("Company").unwrap(), TableName::new("Directory").unwrap());
        for table in [&source, &directory] {
            store.create_table(table).await.unwrap();
        }
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("work").unwrap());
        outbox.create_queues().await.unwrap();
        let (ada, copy) = (EntityKey::new("Sales", "223").unwrap(), EntityKey::new("email", "ada").unwrap());
        let intent = |age| {
            let mut row = RowWriter::new();
            row.property("Age", ValueRef::Int32(age));
            let step = Step::insert_or_replace(directory.clone(), copy.clone(), row.finish());
            Intent::of(ada.row_key.clone()).step(step)
        };
        refused(&outbox.operation(&intent(30)).unwrap_err(), "guarded steps", "Intent::version");
        // Two changes occur within one second, and the later one is applied first.
        for (version, age) in [(2, 32), (1, 31)] {
            let limits = store.capabilities().limits;
            let mut change = table_core::Transaction::new(ada.partition_key.clone(), limits).unwrap();
            outbox.record(&mut change, &intent(age).version(version)).unwrap();
            outbox.submit(&source, change).await.unwrap();
            Worker::new(outbox.clone()).run_until_idle().await.unwrap();
        }
        let found = store.get(&directory, &copy, &table_core::query::Select::All).await.unwrap().unwrap();
        assert_eq!(found.row.view().find("Age", &mut 0).unwrap(), Some(ValueRef::Int32(32)));
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff")]
#[partition_key(team)]
#[row_key(id)]
#[index(ByBadge, unique, table = "Badges", partition_key(badge), row_key("b"))]
struct Staff {
    team: String,
    #[digits(3)]
    id: u32,
    badge: Option<u32>,
}

type Table = Entities<Staff, Seconds<Engine>, Outbox<Seconds<Engine>, Engine>>;

async fn staff(store: &Seconds<Engine>) -> (Table, Outbox<Seconds<Engine>, Engine>) {
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("staff").unwrap());
    outbox.create_queues().await.unwrap();
    let staff = store.entities_with_outbox::<Staff, _>(outbox.clone()).create_if_missing().await.unwrap();
    (staff, outbox)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Tests that changes are ordered by the `ETag`s of the entity and its guard rows. Timestamps must not matter.
    #[test]
    fn etag_6_and_pat_inter_3_cross_partition_indexes_follow_changes_of_one_second(
        changes in prop::collection::vec((0..3_u32, prop::option::of(0..4_u32), any::<bool>()), 1..16),
    ) {
        block_on(async {
            let store = one_second();
            let (staff, outbox) = staff(&store).await;
            let settle = || Worker::new(outbox.clone()).with_index_handler(&staff);
            // A badge belongs to only one entity at a time.
            for (id, badge, settles) in changes {
                let badge = badge.map(|badge| id * 10 + badge);
                let key = || Staff::key("red", id);
                match badge {
                    None if staff.get(key()).await.unwrap().is_some() => {
                        staff.delete(key(), IfMatch::Any).await.unwrap();
                    }
                    badge => drop(staff.insert_or_replace(&Staff { team: "red".into(), id, badge }).await.unwrap()),
                }
                if settles {
                    settle().run_until_idle().await.unwrap();
                }
            }
            settle().run_until_idle().await.unwrap();
            for badge in 0..40_u32 {
                let entity = staff.get(Staff::key("red", badge / 10)).await.unwrap();
                let expected = entity.filter(|entity| entity.badge == Some(badge)).map(|entity| entity.id);
                let copy = staff.get_eventual(Staff::by_badge(badge)).await.unwrap();
                prop_assert_eq!(copy.map(|copy| copy.possibly_stale().id), expected, "badge {}", badge);
            }
            Ok(())
        })?;
    }
}
