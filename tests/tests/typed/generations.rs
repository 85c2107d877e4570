//! Tests an older and a newer version of a program on one store. The older version must not lose data that only the newer schema declares.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod announced;
mod attempts;
mod desk;
mod elsewhere;
mod feeds;
mod interrupted;
mod kept;
mod kit;
mod late;
mod optional;
mod participants;
mod related;
mod relations;
mod repairs;
mod replaced;
mod settling;
mod side_by_side;
mod stored;
mod types;
mod wide;
mod withdrawn;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::table::LEASE;
use table_core::{Entity, ErrorCode, IfMatch, QueueName, Result, Table, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::index::IndexState;
use table_patterns::outbox::Outbox;
use table_patterns::series::{HOURS, Series, SeriesTable};
use tests::time::Time;

mod before {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }

    pub(super) fn employee(id: u32, email: &str) -> Employee {
        Employee { department: "Sales".into(), id, email: email.into() }
    }
}

mod indexed {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }

    pub(super) fn employee(id: u32, email: &str) -> Employee {
        Employee { department: "Sales".into(), id, email: email.into() }
    }
}

mod nicknamed {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
        pub nickname: Option<String>,
    }
}

/// Employees with a feed that records their changes. Views can be computed from it.
mod fed {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff", feed)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }
}

/// Employees whose e-mail addresses are copied to the badges that refer to the employees.
mod copied {
    use table_core::Selection;
    use table_core::selection::Point;
    use table_patterns::copies::CopyRelation;

    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff", copied_by(Bearer))]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }

    #[derive(table_core::Entity)]
    #[entity(table = "Badges", copies_from(Bearer))]
    #[partition_key("all")]
    #[row_key(number)]
    #[entity(allow(hot_partition, reason = "it is not written"))]
    struct Badge {
        number: u32,
        email: String,
    }

    struct Bearer;

    impl CopyRelation for Bearer {
        type Source = Employee;
        type Holder = Badge;
        type Copied = String;
        const NAME: &'static str = "bearer";

        fn reference(badge: &Badge) -> Option<Selection<Employee, Point>> {
            Some(Employee::key("Sales", badge.number))
        }
        fn copied(employee: &Employee) -> String {
            employee.email.clone()
        }
        fn set(badge: &mut Badge, email: String) {
            badge.email = email;
        }
        fn clear(_: &mut Badge) {}
    }
}

/// Returns the table handle of a program with the clock of `time`.
fn table_at<E: Entity>(time: &Time, store: &Engine) -> Table<E, Engine> {
    store.table::<E>().with_retry(Retry::default().with_runtime(time.runtime()))
}

fn refused<T>(outcome: Result<T>) -> bool {
    outcome.is_err_and(|error| error.code() == ErrorCode::SchemaMismatch)
}

#[test]
fn an_unseen_program_that_knows_fewer_indexes_is_refused() {
    block_on(async {
        let store = Engine::in_memory();
        let new = store.entities::<indexed::Employee>().create_if_missing().await.unwrap();
        new.insert(&indexed::employee(1, "ada")).await.unwrap();
        let error = store.table::<before::Employee>().create_if_missing().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-21")));
        assert_eq!(new.states().await.unwrap(), [("ByEmail", IndexState::Ready)]);
        let again = store.entities::<indexed::Employee>().create_if_missing().await.unwrap();
        assert_eq!(again.states().await.unwrap(), [("ByEmail", IndexState::Ready)]);
        assert!(again.get(indexed::Employee::by_email("Sales", "ada")).await.unwrap().is_some());
    });
}

/// Visitors, a second entity type in the table of the employees.
mod visitors {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("visitor_", id)]
    #[index(ByHost, row_key("host_", host, "_", id))]
    pub(super) struct Visitor {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[digits(6)]
        pub host: u32,
    }
}

#[test]
fn the_indexes_of_a_type_that_is_new_in_a_table_of_others_are_ready() {
    block_on(async {
        let store = Engine::in_memory();
        let staff = store.entities::<fed::Employee>().create_if_missing().await.unwrap();
        let (department, email) = ("Sales".to_owned(), "ada".to_owned());
        staff.insert(&fed::Employee { department, id: 1, email }).await.unwrap();
        let visitors = store.entities::<visitors::Visitor>().create_if_missing().await.unwrap();
        assert_eq!(visitors.states().await.unwrap(), [("ByHost", IndexState::Ready)]);
        // A program that stores no schema has written rows of this type.
        let store = Engine::in_memory();
        let staff = store.untyped("Staff").unwrap().create_if_missing().await.unwrap();
        staff
            .insert(&table_core::TableEntity::new("Sales", "visitor_000001").unwrap().with("Host", 1))
            .await
            .unwrap();
        let visitors = store.entities::<visitors::Visitor>().create_if_missing().await.unwrap();
        assert_eq!(visitors.states().await.unwrap(), [("ByHost", IndexState::Building)]);
    });
}

#[test]
fn a_program_without_a_ready_index_can_no_longer_write() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        old.insert(&before::employee(1, "ada")).await.unwrap();
        let new = store
            .entities::<indexed::Employee>()
            .with_runtime(time.runtime())
            .create_if_missing()
            .await
            .unwrap();
        new.backfill::<indexed::EmployeeByEmail>().assume_no_older_programs().run().await.unwrap();
        time.pass(LEASE * 2);

        // Every operation of the older program is rejected, as is its next start. The index therefore stays complete.
        assert!(refused(old.insert(&before::employee(4, "ada")).await));
        assert!(refused(old.delete(before::Employee::key("Sales", 1), IfMatch::Any).await));
        assert!(refused(old.update(before::Employee::key("Sales", 1), |ada| ada.email.clear()).await));
        assert!(refused(
            old.patch(before::Employee::key("Sales", 1)).set(before::Employee::EMAIL, "a").send().await
        ));
        let mut transaction = old.transaction(before::Employee::partition("Sales")).unwrap();
        transaction.insert(&before::employee(5, "ada")).unwrap();
        assert!(refused(transaction.commit().await));
        let bulk = old.bulk().insert_all([before::employee(6, "ada")]).await;
        assert_eq!(bulk.unwrap_err().source.code(), ErrorCode::SchemaMismatch);
        assert!(old.get(before::Employee::key("Sales", 1)).await.unwrap().is_some(), "it may read");
        for _ in 0..2 {
            assert!(refused(store.table::<before::Employee>().create_if_missing().await));
            let again = store.entities::<indexed::Employee>().create_if_missing().await.unwrap();
            assert_eq!(again.states().await.unwrap(), [("ByEmail", IndexState::Ready)]);
        }
        let layout = old.schema_record().await.unwrap().unwrap();
        assert_eq!((layout.generation, layout.superseded.len()), (2, 1));

        // The program can confirm that the downgrade is intended.
        old.accept_schema("back to the version before").await.unwrap();
        old.insert(&before::employee(4, "ada")).await.unwrap();
        time.pass(LEASE * 2);
        assert!(
            refused(new.insert(&indexed::employee(7, "ada")).await),
            "the index is kept by one program alone"
        );
    });
}

#[test]
fn unknown_properties_pass_through_an_older_program_or_it_is_refused() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        old.insert(&before::employee(1, "ada")).await.unwrap();
        let new = table_at::<nicknamed::Employee>(&time, &store).create_if_missing().await.unwrap();
        let key = || nicknamed::Employee::key("Sales", 1);
        new.update(key(), |ada| ada.nickname = Some("A".into())).await.unwrap();
        time.pass(LEASE * 2);

        let restarted = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
        for old in [old, restarted] {
            old.update(before::Employee::key("Sales", 1), |ada| ada.email.push('a')).await.unwrap();
            old.merge(&before::employee(1, "ada"), IfMatch::Any).await.unwrap();
            assert!(refused(old.replace(&before::employee(1, "ada"), IfMatch::Any).await));
            assert!(refused(old.insert_or_replace(&before::employee(1, "ada")).await));
            let entities = table_patterns::Entities::from(old);
            assert!(refused(entities.replace(&before::employee(1, "ada"), IfMatch::Any).await));
            let read = entities.get(before::Employee::key("Sales", 1)).await.unwrap().unwrap();
            let mut unit = entities.unit(before::Employee::partition("Sales")).unwrap();
            unit.replace(&read, &before::employee(1, "grace")).unwrap();
            unit.commit().await.unwrap();
            assert_eq!(new.get(key()).await.unwrap().unwrap().nickname.as_deref(), Some("A"));
        }
        let layout = new.schema_record().await.unwrap().unwrap();
        assert_eq!(layout.schema.properties.len(), 2, "an older program does not store its design");
    });
}

/// Returns `true` if a program of version `before` is rejected only after a backfill.
///
/// While a program of version `New` has the table open, the older program must be able to write. Once the feed and the copies have been backfilled, it must be
/// rejected.
async fn is_refused_after_the_backfill<New: Entity + Send + Sync>() -> bool {
    let time = Time::default();
    let store = time.engine();
    let old = table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
    old.insert(&before::employee(1, "ada")).await.unwrap();
    let queue = QueueName::new("work").unwrap();
    let outbox = Outbox::with_runtime(store.clone(), store.clone(), queue, time.runtime());
    let new = store.entities_with_outbox::<New, _>(outbox).with_runtime(time.runtime());
    let new = new.create_if_missing().await.unwrap();
    time.pass(LEASE * 2);
    old.insert(&before::employee(4, "tim")).await.unwrap();
    table_at::<before::Employee>(&time, &store).create_if_missing().await.unwrap();
    new.backfill_feed().assume_no_older_programs().run().await.unwrap();
    new.backfill_copies().assume_no_older_programs().run().await.unwrap();
    time.pass(LEASE * 2);
    let mut refusals = vec![
        refused(old.insert(&before::employee(2, "grace")).await),
        refused(old.merge(&before::employee(1, "b"), IfMatch::Any).await),
        refused(old.delete(before::Employee::key("Sales", 1), IfMatch::Any).await),
        refused(table_at::<before::Employee>(&time, &store).create_if_missing().await),
    ];
    let entities = table_patterns::Entities::from(old.clone());
    let mut unit = entities.unit(before::Employee::partition("Sales")).unwrap();
    unit.insert(&before::employee(3, "joan")).unwrap();
    refusals.push(refused(unit.commit().await));
    assert!(old.get(before::Employee::key("Sales", 1)).await.unwrap().is_some(), "it may read");
    refusals.into_iter().all(|is_refused| is_refused)
}

#[test]
fn a_program_without_a_complete_feed_or_complete_copies_writes_no_more() {
    block_on(async {
        assert!(is_refused_after_the_backfill::<fed::Employee>().await);
        assert!(is_refused_after_the_backfill::<copied::Employee>().await);
        // An older program that starts for the first time is rejected as well.
        let store = Engine::in_memory();
        let new = store.entities::<fed::Employee>().create_if_missing().await.unwrap();
        let (department, email) = ("Sales".to_owned(), "ada".to_owned());
        new.insert(&fed::Employee { department, id: 1, email }).await.unwrap();
        let error = store.table::<before::Employee>().create_if_missing().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-31")));
    });
}

impl Series for nicknamed::Employee {
    type Value = i32;
    const SLOTS: &'static [&'static str] = HOURS;
}

#[test]
fn slots_unknown_to_an_older_program_pass_through_its_changes() {
    block_on(async {
        let store = Engine::in_memory();
        let new = store.entities::<nicknamed::Employee>().create_if_missing().await.unwrap();
        let (department, email, nickname) = ("Sales".to_owned(), "ada".to_owned(), None);
        let ada = nicknamed::Employee { department, id: 1, email, nickname };
        let series = SeriesTable::new(new);
        series.set(&ada, 9, 40).await.unwrap();
        let old = table_patterns::Entities::from(store.table::<before::Employee>());
        let key = || before::Employee::key("Sales", 1);
        old.update(key(), |ada| ada.email.push('a')).await.unwrap();
        old.merge(&before::employee(1, "b"), IfMatch::Any).await.unwrap();
        old.patch(key()).set(before::Employee::EMAIL, "c").send().await.unwrap();
        let read = old.get(key()).await.unwrap().unwrap();
        let mut unit = old.unit(before::Employee::partition("Sales")).unwrap();
        unit.replace(&read, &before::employee(1, "d")).unwrap();
        unit.commit().await.unwrap();
        let row = series.get(nicknamed::Employee::key("Sales", 1)).await.unwrap().unwrap();
        assert_eq!((row.entity.email.as_str(), row.slot(9)), ("d", Some(&40)));
    });
}
