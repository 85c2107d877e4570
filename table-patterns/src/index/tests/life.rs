//! Tests the life of an index. It is built over existing rows while other programs write, and is then rebuilt. The build can be resumed and has a rate limit.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::runtime::ticks_of;
use table_core::table::TableStoreExt;
use table_core::{ErrorCode, Value};

use super::disturbed::Disturbed;
use super::kit::{Staff, StaffByAge, StaffByEmail, ada, expected, stored, waiting};
use super::old::{ALL_READY, build, old_rows, staff};
use crate::EntityStore;
use crate::index::{IndexState, Phase};

/// Tests that adding an index (DQ-1) requires only a backfill. No query may use the index before it is complete.
#[test]
fn a_new_index_supports_queries_only_once_it_is_built() {
    block_on(async {
        let engine = Engine::in_memory();
        let entities: Vec<_> = (0..30).map(staff).collect();
        old_rows(&engine, &entities).await?;
        let table = engine.entities::<Staff>().create_if_missing().await?;
        assert!(table.states().await?.iter().all(|(_, state)| *state == IndexState::Building));
        let not_ready = |error: table_core::Error| error.code() == ErrorCode::IndexNotReady;
        assert!(not_ready(table.get(Staff::by_email("Marketing", "mail1")).await.unwrap_err()));
        assert!(not_ready(table.exists(Staff::by_email("Marketing", "mail1")).await.unwrap_err()));
        assert!(not_ready(table.get_many([Staff::by_email("Marketing", "mail1")]).await.unwrap_err()));
        assert!(not_ready(table.query(Staff::by_email_rows("Sales").email(..)).collect().await.unwrap_err()));
        assert!(not_ready(table.get_by_index(Staff::by_last_name("Sales", "Name1")).await.unwrap_err()));
        assert_eq!(table.query(Staff::partition("Sales")).collect().await?.len(), 15, "the entities answer");

        // Old rows have no copies yet, but writers maintain copies of the rows that they write.
        let elder = |staff: &mut Staff| (staff.age, staff.email) = (20, Some("new".to_owned()));
        table.update(Staff::key("Marketing", 1), elder).await?;
        table.delete(Staff::key("Sales", 2), IfMatch::Any).await?;
        // A handle that has not found the index ready rereads the index's state. This includes handles that were opened before the backfill, and handles that
        // were never opened.
        let (early, unopened) =
            (engine.entities::<Staff>().create_if_missing().await?, engine.entities::<Staff>());
        let by_email =
            |table: &crate::Entities<Staff, Engine>| table.query(Staff::by_email_rows("Marketing").email(..));
        assert!(not_ready(by_email(&unopened).collect().await.unwrap_err()));
        let stream: Vec<_> = by_email(&early).stream().collect().await;
        assert_eq!(stream.len(), 1, "an error ends the stream");
        assert!(stream.into_iter().all(|found| found.is_err_and(not_ready)));
        let before = by_email(&early);
        build(&table).await?;
        assert_eq!(before.collect().await?.len(), 10, "the query was created before");
        assert_eq!(by_email(&unopened).page().await?.items.len(), 10);
        assert_eq!(by_email(&early).count().await?, 10);
        let other_handle = engine.entities::<Staff>();
        assert_eq!(
            (table.states().await?, other_handle.states().await?),
            (ALL_READY.to_vec(), ALL_READY.to_vec())
        );
        let mut now: Vec<_> = (0..30).filter(|id| *id != 2).map(staff).collect();
        elder(&mut now[1]);
        assert_eq!(stored(&engine, &["Company"]).await?, expected(&now));
        assert_eq!(table.get(Staff::by_email("Marketing", "new")).await?.as_deref(), Some(&now[1]));
        let emails = ["none", "new"].map(|email| Staff::by_email("Marketing", email));
        let found = table.get_many(emails).await?;
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), [None, Some(&now[1])]);
        assert!(table.exists(Staff::by_email("Marketing", "new")).await?);
        assert!(
            table.exists(Staff::key("Marketing", 1)).await? && !table.exists(Staff::key("Sales", 2)).await?
        );
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_backfill_with_concurrent_writers_misses_no_entity() {
    let engine = Engine::in_memory();
    let entities: Vec<_> = (0..40).map(staff).collect();
    block_on(old_rows(&engine, &entities)).unwrap();
    let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        for writer in 0..3_u32 {
            let (table, stop) = (table.clone(), Arc::clone(&stop));
            scope.spawn(move || {
                let mut round = 0_u32;
                while !stop.load(Ordering::Relaxed) || round < 40 {
                    let now = staff((writer * 13 + round * 7) % 40);
                    let key = Staff::key(&now.department, now.id);
                    let _ = match round % 5 {
                        0 => block_on(table.delete(key, IfMatch::Any)),
                        1 => block_on(table.insert(&now)).map(drop),
                        _ => block_on(table.update(key, |staff| {
                            staff.age = 16 + u8::try_from(round % 5).unwrap();
                            staff.email = round.is_multiple_of(2).then(|| format!("{round}of{}", staff.id));
                        }))
                        .map(drop),
                    };
                    round += 1;
                }
            });
        }
        block_on(build(&table)).unwrap();
        stop.store(true, Ordering::Relaxed);
    });
    block_on(async {
        assert_eq!(table.states().await?, ALL_READY);
        let mut left = table.query(Staff::partition("Sales")).collect().await?;
        left.extend(table.query(Staff::partition("Marketing")).collect().await?);
        assert_eq!(stored(&engine, &["Company"]).await?, expected(&left));
        assert!(table.check().run().await?.is_clean());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn a_backfill_keeps_its_rate_and_reports_its_progress() {
    block_on(async {
        let engine = Engine::in_memory();
        let entities: Vec<_> = (0..50).map(staff).collect();
        old_rows(&engine, &entities).await?;
        let (pace, time) = waiting();
        let table = engine.entities::<Staff>().create_if_missing().await?.with_runtime(pace);
        let mut pages = Vec::new();
        let rate = NonZeroU32::new(10).unwrap();
        let progress = |done: crate::index::BackfillProgress| pages.push((done.phase, done.scanned));
        table
            .backfill::<StaffByAge>()
            .assume_no_older_programs()
            .per_second(rate)
            .page(20)
            .on_progress(progress)
            .run()
            .await?;
        assert_eq!(
            time.load(Ordering::Relaxed),
            ticks_of(Duration::from_secs(5)),
            "50 entities, 10 a second"
        );
        assert_eq!(
            pages,
            [(Phase::Rows, 0), (Phase::Entities, 20), (Phase::Entities, 40), (Phase::Entities, 50)]
        );
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_intra_5_a_duplicate_value_leaves_a_unique_index_building() {
    block_on(async {
        let engine = Engine::in_memory();
        let (one, two) = (ada(), Staff { id: 2, ..ada() });
        old_rows(&engine, &[one.clone(), two.clone()]).await?;
        let table = engine.entities::<Staff>().create_if_missing().await?;
        let error = table.backfill::<StaffByEmail>().assume_no_older_programs().run().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::UniqueViolation, Some("PAT-INTRA-5")));
        assert_eq!(table.states().await?[0], ("ByEmail", IndexState::Building));
        // Both entities can still be written. Writes that keep the value succeed. If an entity releases the value, the copy of the other entity remains.
        table.update(Staff::key("Sales", 2), |staff| staff.age += 1).await?;
        table.update(Staff::key("Sales", 2), |staff| staff.email = Some("two".to_owned())).await?;
        let copy = engine.untyped("Company")?.get(&EntityKey::new("Sales", "email_ada")?).await?;
        assert_eq!(copy.unwrap().get("EmployeeId"), Some(&Value::from("000001")));
        build(&table).await?;
        let two = Staff { age: 37, email: Some("two".to_owned()), ..two };
        assert_eq!(stored(&engine, &["Company"]).await?, expected([&one, &two]));
        assert_eq!(table.states().await?, ALL_READY);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests that a backfill writes no outdated rows if another writer changes an entity between its read and its write.
#[test]
fn a_backfill_writes_no_outdated_rows() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        old_rows(&store, &[ada()]).await?;
        let table = store.entities::<Staff>().create_if_missing().await?;
        store.before_submit(|_| {}); // records that the backfill pass has started
        store.before_submit(|_| {}); // records that the rows are complete
        store.before_submit(|engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            let moved = |staff: &mut Staff| staff.email = Some("countess".to_owned());
            block_on(table.update(Staff::key("Sales", 1), moved)).unwrap();
        });
        build(&table).await?;
        let now = Staff { email: Some("countess".to_owned()), ..ada() };
        assert_eq!(stored(&store, &["Company"]).await?, expected([&now]));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests that `rebuild` refuses queries until a backfill, restarts every pass that has begun, and does not refuse older programs.
#[test]
fn a_rebuilt_index_refuses_queries_until_a_backfill() {
    block_on(async {
        let engine = Engine::in_memory();
        old_rows(&engine, &[staff(1), staff(2), staff(3)]).await?;
        let table = engine.entities::<Staff>().create_if_missing().await?;
        table.rebuild::<StaffByEmail>().await?;
        let layout = table.table().schema_record().await?.unwrap();
        assert!(layout.is_announced("ByEmail"), "its backfill has not begun");
        build(&table).await?;
        assert_eq!(table.states().await?, ALL_READY);
        table.rebuild::<StaffByEmail>().await?;
        assert_eq!(table.states().await?[0], ("ByEmail", IndexState::Building));
        let error = table.get(Staff::by_email("Marketing", "mail1")).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::IndexNotReady);
        let moved = |staff: &mut Staff| staff.email = Some("countess".to_owned());
        table.update(Staff::key("Marketing", 1), moved).await?;
        let report = table.backfill::<StaffByEmail>().assume_no_older_programs().run().await?;
        assert_eq!((report.scanned, report.repaired), (5, 0), "3 entities, and 2 of them have an email");
        assert!(table.get(Staff::by_email("Marketing", "countess")).await?.is_some(), "it was maintained");
        assert!(table.get(Staff::by_email("Marketing", "mail1")).await?.is_none());
        assert_eq!(table.states().await?, ALL_READY);
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
