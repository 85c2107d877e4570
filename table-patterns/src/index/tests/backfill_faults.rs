//! Tests backfills whose process dies at any submit, or that run with concurrent writers. Later runs continue them, and the result must agree with the model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::index::Index;
use table_core::key::EntityKey;
use table_core::{Entity, ErrorCode, Result};

use super::disturbed::{Disturbed, Fault};
use super::kit::{Records, Staff, StaffByAge, StaffByEmail, StaffByLastName, ada, expected, stored};
use super::old::{ALL_READY, old_rows};
use crate::EntityStore;
use crate::entities::{Entities, StepRecorder};
use crate::index::fixture::{Employee, EmployeeByBadge, EmployeeEmailDirectory, EmployeeNamesakes, jones};
use crate::index::{IndexReport, IndexState};

/// The number of entities per page. The backfill writes each page in several transactions.
const PAGE: usize = 25;

/// Runs a backfill, and stores the last reported number of processed entities in `scanned`.
async fn told<I: Index, O: StepRecorder>(
    table: &Entities<I::Entity, Disturbed, O>,
    scanned: &mut u64,
) -> Result<IndexReport> {
    *scanned = 0;
    table
        .backfill::<I>()
        .assume_no_older_programs()
        .page(PAGE)
        .on_progress(|done| *scanned = done.scanned)
        .run()
        .await
}

/// Runs a backfill that dies at a given submit, then a second backfill that continues it. Returns `true` if the first one died.
async fn dies_and_goes_on<I: Index, O: StepRecorder>(
    store: &Disturbed,
    table: &Entities<I::Entity, Disturbed, O>,
    (at, fault): (usize, Fault),
    entities: u64,
) -> Result<bool> {
    let (mut before, mut after) = (0, 0);
    store.die_at(at, fault);
    let has_died = told::<I, O>(table, &mut before).await.is_err();
    store.live();
    told::<I, O>(table, &mut after).await?;
    // At most one page was reported but not yet recorded. Only this page is processed again.
    let rest = entities - before;
    let page = u64::try_from(PAGE).unwrap();
    assert!((rest..=rest + page).contains(&after), "{at} {fault:?}: {before} and {after} of {entities}");
    assert!(has_died || after == 0, "it was through");
    let state = table.states().await?.into_iter().find(|(name, _)| *name == I::SCHEMA.name);
    assert_eq!(state.map(|(_, state)| state), Some(IndexState::Ready));
    Ok(has_died)
}

fn staff(id: u32) -> Staff {
    Staff {
        department: format!("D{}", id % 6),
        id,
        last_name: format!("Name{}", id / 12),
        age: 16 + u8::try_from(id % 5).unwrap(),
        email: (!id.is_multiple_of(7)).then(|| format!("mail{id}")),
        ..ada()
    }
}

#[test]
fn pat_intra_4_a_backfill_resumes_after_a_crash_at_any_submit() {
    let entities: Vec<_> = (0..60).map(staff).collect();
    for fault in [Fault::Before, Fault::After] {
        let mut at = 0;
        while block_on(async {
            let store = Disturbed::new(Engine::in_memory());
            old_rows(&store, &entities).await?;
            let table = store.entities::<Staff>().create_if_missing().await?;
            let death = (at, fault);
            let mut has_died = dies_and_goes_on::<StaffByEmail, _>(&store, &table, death, 60).await?;
            has_died |= dies_and_goes_on::<StaffByAge, _>(&store, &table, death, 60).await?;
            has_died |= dies_and_goes_on::<StaffByLastName, _>(&store, &table, death, 60).await?;
            assert_eq!(table.states().await?, ALL_READY);
            assert_eq!(stored(&store.engine, &["Company"]).await?, expected(&entities), "{fault:?} {at}");
            Ok::<bool, table_core::Error>(has_died)
        })
        .unwrap()
        {
            at += 1;
        }
        assert_eq!(at, 12, "transactions of 3, 3 and 1 partitions, and 5 notes");
    }
}

#[test]
fn pat_inter_3_a_cross_partition_backfill_resumes_after_a_crash_at_any_submit() {
    let employee = |id: u32| Employee {
        department: format!("D{}", id % 3),
        id,
        last_name: format!("Name{}", id % 4),
        email: id.to_string(),
        badge: Some(id),
        ..jones()
    };
    let employees: Vec<_> = (0..30).map(employee).collect();
    for fault in [Fault::Before, Fault::After] {
        let mut at = 0;
        while block_on(async {
            let store = Disturbed::new(Engine::in_memory());
            let table =
                store.entities_with_outbox::<Employee, _>(Records::default()).create_if_missing().await?;
            // The changes are recorded but not relayed. All remote entries are therefore missing.
            table.bulk().insert_all(&employees).await.map_err(|error| error.source)?;
            table.rebuild::<EmployeeByBadge>().await?;
            table.rebuild::<EmployeeEmailDirectory>().await?;
            table.rebuild::<EmployeeNamesakes>().await?;
            let death = (at, fault);
            let mut has_died = dies_and_goes_on::<EmployeeByBadge, _>(&store, &table, death, 30).await?;
            has_died |= dies_and_goes_on::<EmployeeEmailDirectory, _>(&store, &table, death, 30).await?;
            has_died |= dies_and_goes_on::<EmployeeNamesakes, _>(&store, &table, death, 30).await?;
            let seen = stored(&store.engine, &["Company", "Badges"]).await?;
            assert_eq!(seen, expected(&employees), "{fault:?} {at}");
            Ok::<bool, table_core::Error>(has_died)
        })
        .unwrap()
        {
            at += 1;
        }
        assert!(at > 30, "{at} submits");
    }
}

/// Tests that a repair restores the index rows after all of them have been lost. It works like a backfill. The first repair dies at each submit in turn.
#[test]
fn pat_intra_4_a_repair_that_crashes_at_any_submit_is_completed_by_the_next() {
    let entities: Vec<_> = (0..30).map(staff).collect();
    for fault in [Fault::Before, Fault::After] {
        let mut at = 0;
        while block_on(async {
            let store = Disturbed::new(Engine::in_memory());
            old_rows(&store, &entities).await?;
            let table = store.entities::<Staff>().create_if_missing().await?;
            store.die_at(at, fault);
            let first = table.check().repair().run().await;
            store.live();
            let second = table.check().repair().run().await?;
            let lacked = expected(&entities).len();
            assert_eq!(stored(&store.engine, &["Company"]).await?, expected(&entities), "{fault:?} {at}");
            assert!(second.is_clean() || first.is_err(), "{at} of {lacked}: {second:?}");
            Ok::<bool, table_core::Error>(first.is_err())
        })
        .unwrap()
        {
            at += 1;
        }
        assert!(at > 12, "{at} submits");
    }
}

/// A concurrent write during a backfill.
#[derive(Clone, Debug)]
enum Live {
    Put(Staff),
    Change(Staff),
    Delete(Staff),
}

type Model = Arc<Mutex<BTreeMap<EntityKey, Staff>>>;

impl Live {
    /// Applies the write to the engine, and, if it succeeds, to the model.
    fn act(self, engine: &Engine, model: &Model) {
        let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
        let (Self::Put(staff) | Self::Change(staff) | Self::Delete(staff)) = &self;
        let key = staff.key_of().unwrap();
        let point = Staff::key(&staff.department, staff.id);
        let done = match &self {
            Self::Put(staff) => block_on(table.insert_or_replace(staff)).map(drop),
            Self::Change(staff) => block_on(table.update(point, |now| now.clone_from(staff))).map(drop),
            Self::Delete(_) => block_on(table.delete(point, IfMatch::Any)),
        };
        let mut model = model.lock().unwrap();
        match (done, self) {
            (Ok(()), Self::Delete(_)) => drop(model.remove(&key)),
            (Ok(()), Self::Put(staff) | Self::Change(staff)) => drop(model.insert(key, staff)),
            (Err(error), _) => assert!(
                matches!(
                    error.code(),
                    ErrorCode::ResourceNotFound | ErrorCode::UniqueViolation | ErrorCode::IndexListFull
                ),
                "{error:?}"
            ),
        }
    }
}

/// Generates entities with only a few distinct values. Keys, lists and transactions therefore collide.
fn some_staff() -> impl Strategy<Value = Staff> {
    (prop::sample::select(vec!["Sales", "Marketing"]), 0_u32..12, 0..5, 17_u8..20, prop::option::of(0_u8..20))
        .prop_map(|(department, id, name, age, email)| Staff {
            department: department.to_owned(),
            id,
            last_name: format!("Name{name}"),
            age,
            email: email.map(|email| email.to_string()),
            note: None,
        })
}

fn live() -> impl Strategy<Value = Live> {
    (0..4, some_staff()).prop_map(|(kind, staff)| match kind {
        0 => Live::Put(staff),
        1 => Live::Delete(staff),
        _ => Live::Change(staff),
    })
}

/// Returns `true` for errors of a backfill that the generated entities can cause, even if only for a while.
fn is_of_the_data(error: &table_core::Error) -> bool {
    matches!(error.code(), ErrorCode::UniqueViolation | ErrorCode::IndexListFull)
}

/// Runs the backfills of all three indexes, and returns their outcomes.
async fn all<S: table_core::TableStore + Clone>(
    table: &Entities<Staff, S, crate::entities::NoOutbox>,
    page: usize,
) -> [bool; 3] {
    let ended = |ended: Result<IndexReport>| match ended {
        Ok(_) => true,
        Err(error) if is_of_the_data(&error) => false,
        Err(error) => panic!("{error:?}"),
    };
    [
        ended(table.backfill::<StaffByEmail>().assume_no_older_programs().page(page).run().await),
        ended(table.backfill::<StaffByAge>().assume_no_older_programs().page(page).run().await),
        ended(table.backfill::<StaffByLastName>().assume_no_older_programs().page(page).run().await),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Tests that no concurrent write is lost, between whichever requests of a backfill it happens. Every ready index must be complete.
    #[test]
    fn con_3_a_backfill_with_concurrent_writers_agrees_with_the_model(
        old in prop::collection::vec(some_staff(), 0..24),
        page in prop_oneof![8 => 1_usize..30, 1 => Just(0), 1 => 1_000_usize..=2_000],
        gets in prop::collection::vec(prop::option::weighted(0.15, live()), 0..120),
        submits in prop::collection::vec(prop::option::weighted(0.4, live()), 0..30),
    ) {
        block_on(async {
            let old: BTreeMap<_, _> = old.into_iter().map(|staff| (staff.key_of().unwrap(), staff)).collect();
            let store = Disturbed::new(Engine::in_memory());
            old_rows(&store, &old.values().cloned().collect::<Vec<_>>()).await?;
            let table = store.entities::<Staff>().create_if_missing().await?;
            let model: Model = Arc::new(Mutex::new(old));
            let hook = |live: Option<Live>| {
                let model = Arc::clone(&model);
                move |engine: &Engine| live.iter().for_each(|live| live.clone().act(engine, &model))
            };
            for live in gets {
                store.before_get(hook(live));
            }
            for live in submits {
                store.before_submit(hook(live));
            }
            let first = all(&table, page).await;
            let mut states = table.states().await?.into_iter().map(|(_, state)| state == IndexState::Ready);
            for is_whole in first {
                assert_eq!(states.next(), Some(is_whole), "ready if it ended well");
            }
            if first == [true; 3] {
                let model = model.lock().unwrap().clone();
                assert_eq!(stored(&store.engine, &["Company"]).await?, expected(model.values()));
            }
            // Without concurrent writers, the outcome of the backfill depends only on the stored entities.
            let second = all(&store.engine.entities::<Staff>().create_if_missing().await?, page).await;
            let model = model.lock().unwrap().clone();
            let (mut emails, mut names) = (BTreeMap::<_, usize>::new(), BTreeMap::<_, usize>::new());
            for staff in model.values() {
                if let Some(email) = &staff.email {
                    *emails.entry((staff.department.clone(), email.clone())).or_default() += 1;
                }
                *names.entry((staff.department.clone(), staff.last_name.clone())).or_default() += 1;
            }
            let is_unique = emails.values().all(|count| *count == 1);
            let is_short = names.values().all(|count| *count <= 3);
            assert_eq!(second, [is_unique, true, is_short]);
            let (seen, wanted) = (stored(&store.engine, &["Company"]).await?, expected_parts(&model));
            if is_unique && is_short {
                assert_eq!(seen, expected(model.values()));
            }
            for (key, row) in wanted {
                assert_eq!(seen.get(&key), Some(&row), "{key:?}");
            }
            Ok::<(), table_core::Error>(())
        }).unwrap();
    }
}

/// Returns the rows of the entities themselves. They must exist even if lists are full or unique values are duplicated.
fn expected_parts(model: &BTreeMap<EntityKey, Staff>) -> super::kit::Rows {
    let is_entity = |(_, key): &(String, EntityKey)| key.row_key.as_str().starts_with("empid_");
    let mut rows = super::kit::Rows::new();
    for staff in model.values() {
        rows.extend(expected([staff]).into_iter().filter(|(key, _)| is_entity(key)));
    }
    rows
}
