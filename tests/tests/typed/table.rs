//! Tests all operations of the typed table on the in-memory engine. Also tests a hand-written entity implementation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod queries;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::TryStreamExt;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::runtime::Runtime;
use table_core::{ErrorCode, IfMatch, Result, Selection, Table, TableEntity, TableStoreExt, Value};
use tests::employee::Employee;

fn employees() -> Table<Employee, Engine> {
    block_on(Engine::in_memory().table::<Employee>().create_if_missing()).unwrap()
}

/// Creates a table with employees 0 to `count` (exclusive) in each department. The age of each employee equals the employee's number.
fn filled(departments: &[&str], count: u32) -> Table<Employee, Engine> {
    let table = employees();
    let age = |id: u32| i32::try_from(id).unwrap();
    let all = departments.iter().flat_map(|department| {
        (0..count).map(move |id| Employee { age: age(id), ..Employee::new(department, id) })
    });
    block_on(table.bulk().insert_all(all)).unwrap();
    table
}

fn ids(employees: &[Employee]) -> Vec<u32> {
    employees.iter().map(|employee| employee.id).collect()
}

#[test]
fn single_writes_follow_their_rules() -> Result<()> {
    block_on(async {
        let table = employees();
        let mut ada = Employee { room: Some("7".into()), ..Employee::new("Sales", 223) };
        let first = table.insert(&ada).await?;
        assert!(table.insert(&ada).await.unwrap_err().is_already_exists()); // INS-1

        ada.age = 31;
        ada.room = None;
        let second = table.merge(&ada, &first).await?; // MRG-3: None is not sent
        let read = table.get(Employee::key("Sales", 223)).await?.unwrap();
        assert_eq!((read.age, read.room.as_deref(), read.etag()), (31, Some("7"), &second));

        assert!(table.replace(&ada, first).await.unwrap_err().is_precondition_failed()); // UPD-3
        table.replace(&ada, IfMatch::Any).await?; // UPD-1: None is removed
        assert_eq!(table.get(Employee::key("Sales", 223)).await?.unwrap().into_value(), ada);

        table.insert_or_replace(&Employee::new("Sales", 1)).await?;
        table.insert_or_merge(&Employee::new("Sales", 2)).await?;
        table.delete(Employee::key("Sales", 1), IfMatch::Any).await?;
        let error = table.delete(Employee::key("Sales", 1), IfMatch::Any).await.unwrap_err();
        assert_eq!((error.code(), error.key()), (ErrorCode::ResourceNotFound, Some(("Sales", "000001"))));
        assert_eq!(error.table(), Some("Employee"));
        assert_eq!(table.get(Employee::key("Sales", 1)).await?, None);
        Ok(())
    })
}

#[test]
fn a_key_that_cannot_be_written_is_an_error_where_it_is_used() {
    block_on(async {
        let table = employees();
        let error = table.get(Employee::key("Sales", 1_000_000)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::KeyEncoding);
        let error = table.insert(&Employee::new("a/b", 1)).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::KeyEncoding, Some("KEY-3")));
    });
}

#[test]
fn dq_7_get_many_returns_the_requested_order() -> Result<()> {
    let table = filled(&["Sales"], 50);
    let found = block_on(table.get_many([40, 99, 3, 40].map(|id| Employee::key("Sales", id))))?;
    let ids: Vec<_> = found.iter().map(|found| found.as_ref().map(|employee| employee.id)).collect();
    assert_eq!(ids, [Some(40), None, Some(3), Some(40)]);
    Ok(())
}

#[test]
fn con_3_update_retries_on_conflict_and_counts_correctly() {
    let table = employees();
    block_on(table.insert(&Employee { age: 0, ..Employee::new("Sales", 1) })).unwrap();
    let stale = block_on(table.get(Employee::key("Sales", 1))).unwrap().unwrap();
    // The first attempt of each thread uses a stale entity. A later attempt fails only if one of the 30 writes by the other threads comes before it. The limit
    // on attempts is therefore sufficient even for the slowest thread.
    const { assert!(1 + 3 * 10 < Retry::ATTEMPTS) };
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..10 {
                    block_on(table.update(&stale, |employee| employee.age += 1)).unwrap();
                }
            });
        }
    });
    assert_eq!(block_on(table.get(Employee::key("Sales", 1))).unwrap().unwrap().age, 40);
}

#[test]
fn con_3_update_gives_up_after_a_bounded_number_of_delayed_retries() {
    let waits = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&waits);
    let pace = Runtime::new().sleep_by(move |time| {
        count.fetch_add(usize::from(!time.is_zero()), Ordering::SeqCst);
        Box::pin(async {})
    });
    let table = employees().with_retry(Retry::default().with_runtime(pace));
    block_on(table.insert(&Employee::new("Sales", 1))).unwrap();
    let mut attempts = 0;
    // Another writer always commits before this update does.
    let error = block_on(table.update(Employee::key("Sales", 1), |employee| {
        attempts += 1;
        employee.age += 1;
        block_on(table.insert_or_replace(&Employee { age: attempts, ..Employee::new("Sales", 1) })).unwrap();
    }))
    .unwrap_err();
    assert_eq!(attempts, i32::try_from(Retry::ATTEMPTS).unwrap());
    assert!(error.is_precondition_failed() && error.to_string().contains(&Retry::ATTEMPTS.to_string()));
    assert_eq!(error.key(), Some(("Sales", "000001")));
    assert_eq!(waits.load(Ordering::SeqCst), Retry::ATTEMPTS - 1);
}

#[test]
fn update_keeps_unknown_properties_and_removes_those_set_to_none() -> Result<()> {
    block_on(async {
        let table = employees();
        let untyped = table.store().untyped("Employee")?;
        let bag = TableEntity::new("Sales", "000001")?
            .with("FirstName", "Ada")
            .with("Age", 30)
            .with("Room", "7")
            .with("Unknown", 1.5);
        untyped.insert(&bag).await?;
        let read = table.get(Employee::key("Sales", 1)).await?.unwrap();
        for from in [read.clone().into(), Employee::key("Sales", 1).into()] {
            let from: table_core::table::UpdateFrom<Employee> = from;
            let updated = table.update(from, |employee| employee.age += 1).await?;
            let stored = untyped.get(Selection::point("Sales", "000001")).await?.unwrap();
            assert_eq!((stored.get("Unknown"), stored.len()), (Some(&Value::from(1.5)), 4));
            assert_eq!((updated.etag(), updated.ticks()), (stored.etag(), stored.ticks()));
        }
        let updated = table.update(&read, |employee| employee.room = None).await?;
        assert_eq!((updated.age, &updated.room), (32, &None), "the stale version was read again");
        let stored = untyped.get(Selection::point("Sales", "000001")).await?.unwrap();
        assert_eq!((stored.get("Unknown"), stored.get("Room")), (Some(&Value::from(1.5)), None));
        // The update starts from a current version and therefore does not read.
        let with_room = table.update(&updated, |employee| employee.room = Some("8".into())).await?;
        table.update(&with_room, |employee| employee.room = None).await?;
        let stored = untyped.get(Selection::point("Sales", "000001")).await?.unwrap();
        assert_eq!((stored.get("Unknown"), stored.get("Room")), (Some(&Value::from(1.5)), None));
        Ok(())
    })
}

#[test]
fn upd_6_update_refuses_another_key_and_a_missing_entity() {
    block_on(async {
        let table = filled(&["Sales"], 1);
        let error = table.update(Employee::key("Sales", 0), |employee| employee.id = 9).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("UPD-6")));
        let error = table.update(Employee::key("Sales", 7), |_| ()).await.unwrap_err();
        assert_eq!((error.code(), error.key()), (ErrorCode::ResourceNotFound, Some(("Sales", "000007"))));
        let refuse = |_: &mut Employee| Err(table_core::Error::new(ErrorCode::Unsupported, "not today"));
        let error = table.try_update(Employee::key("Sales", 0), refuse).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::Unsupported);
        assert_eq!(table.get(Employee::key("Sales", 0)).await.unwrap().unwrap().age, 0);
    });
}

#[test]
fn mrg_1_patch_sets_single_properties() -> Result<()> {
    block_on(async {
        let table = filled(&["Sales"], 2);
        let key = || Employee::key("Sales", 1);
        let patched = table.patch(key()).set(Employee::AGE, 30).set(Employee::AGE, 31).send().await?;
        let read = table.get(key()).await?.unwrap();
        assert_eq!((read.age, read.first_name.as_str(), read.etag()), (31, "Number 1", &patched));
        table.patch(key()).set(Employee::FIRST_NAME, "Ada").if_match(&patched).send().await?;
        let error = table.patch(key()).set(Employee::AGE, 1).if_match(patched).send().await.unwrap_err();
        assert!(error.is_precondition_failed());
        let error = table.patch(Employee::key("Sales", 9)).set(Employee::AGE, 1).send().await.unwrap_err();
        assert!(error.is_not_found());
        Ok(())
    })
}

#[test]
fn mrg_3_a_patch_that_sets_none_removes_the_property_and_keeps_the_others() -> Result<()> {
    block_on(async {
        let table = filled(&["Sales"], 1);
        let untyped = table.store().untyped("Employee")?;
        let key = || Employee::key("Sales", 0);
        let stored = async || untyped.get(&key().key()?).await.map(|found| found.unwrap().into_value());
        let foreign = stored().await?.with("Foreign", 7).with("Room", "7");
        untyped.replace(&foreign, IfMatch::Any).await?;

        let patch = || table.patch(key()).set(Employee::AGE, 31).set(Employee::ROOM, None);
        let patched = patch().send().await?;
        let mut expected = foreign.with("Age", 31);
        assert_eq!(expected.remove("Room"), Some(Value::from("7")));
        let properties = |row: &TableEntity| {
            row.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(properties(&stored().await?), properties(&expected));
        assert_eq!(table.get(key()).await?.unwrap().etag(), &patched);

        // The last value wins. Removing a property that is not stored is not an error.
        patch().set(Employee::ROOM, Some("8".to_owned())).if_match(&patched).send().await?;
        assert_eq!(table.get(key()).await?.unwrap().room.as_deref(), Some("8"));
        assert!(patch().if_match(patched).send().await.unwrap_err().is_precondition_failed());
        patch().send().await?;
        patch().send().await?;
        let missing = table.patch(Employee::key("Sales", 9)).set(Employee::ROOM, None);
        assert!(missing.send().await.unwrap_err().is_not_found());
        Ok(())
    })
}

#[test]
fn con_3_a_patch_that_removes_a_property_loses_no_write_of_another() {
    block_on(async {
        let table = filled(&["Sales"], 1);
        let remove = || table.patch(Employee::key("Sales", 0)).set(Employee::ROOM, None).send();
        let grow = || table.update(Employee::key("Sales", 0), |employee| employee.age += 1);
        for _ in 0..8 {
            let (removed, first, second) = futures_util::join!(remove(), grow(), grow());
            for outcome in [removed.map(drop), first.map(drop), second.map(drop)] {
                outcome.unwrap();
            }
        }
        assert_eq!(table.get(Employee::key("Sales", 0)).await.unwrap().unwrap().age, 16);
    });
}

#[test]
fn tables_are_listed_created_once_and_deleted() -> Result<()> {
    block_on(async {
        let engine = Engine::in_memory();
        for name in ["Beta", "Alpha", "Alphabet"] {
            assert!(engine.create_table_if_missing(&table_core::TableName::new(name)?).await?);
        }
        assert!(!engine.create_table_if_missing(&table_core::TableName::new("alpha")?).await?);
        let names: Vec<String> = engine.tables("Alpha").map_ok(|name| name.to_string()).try_collect().await?;
        assert_eq!(names, ["Alpha", "Alphabet"]);
        let table = engine.table_named::<Employee>("Beta")?;
        assert!(table.delete_table().await? && !table.delete_table().await?);
        assert!(table.get(Employee::key("Sales", 1)).await.unwrap_err().is_table_not_found());
        Ok(())
    })
}

#[test]
fn futures_and_streams_can_move_between_threads() {
    fn sends<T: Send>(_: &T) {}
    let table = employees();
    let employee = Employee::new("Sales", 1);
    sends(&table.insert(&employee));
    sends(&table.get(Employee::key("Sales", 1)));
    sends(&table.get_many([Employee::key("Sales", 1)]));
    sends(&table.update(Employee::key("Sales", 1), |employee| employee.age += 1));
    sends(&table.patch(Employee::key("Sales", 1)).set(Employee::AGE, 1).send());
    sends(&table.query(Employee::partition("Sales")).collect());
    sends(&table.query(Employee::partition("Sales")).page());
    sends(&table.query(Employee::partitions(&["A", "B"])).stream());
    sends(&table.scan("why").max_rows(1).stream());
    sends(&table.bulk().insert_all(vec![employee]));
    sends(&table.transaction(Employee::partition("Sales")).unwrap().commit());
    sends(&table.store().tables(""));
}
