//! Tests programs that die before or after any submit. The stored rows must be either all old or all new (PAT-INTRA-4).

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::{ErrorCode, Result};

use super::disturbed::{Disturbed, Fault};
use super::kit::{Staff, StaffByEmail, ada, expected, stored};
use crate::EntityStore;
use crate::index::UniqueViolation;

#[test]
fn pat_intra_4_a_crash_at_any_submit_leaves_all_or_nothing() {
    for fault in [Fault::Before, Fault::After] {
        for at in 0..5 {
            block_on(async {
                let store = Disturbed::new(Engine::in_memory());
                let table = store.entities::<Staff>().create_if_missing().await?;
                let bob = Staff { id: 2, email: Some("bob".to_owned()), ..ada() };
                let moved = Staff { last_name: "Byron".to_owned(), email: None, age: 17, ..ada() };
                let states = [
                    vec![],
                    vec![ada()],
                    vec![ada(), bob.clone()],
                    vec![moved.clone(), bob.clone()],
                    vec![moved.clone()],
                    vec![],
                ];
                store.die_at(at, fault);
                let mut died = 0;
                let work: [Result<()>; 5] = [
                    table.insert(&ada()).await.map(drop),
                    table.insert(&bob).await.map(drop),
                    table.update(Staff::key("Sales", 1), |staff| *staff = moved.clone()).await.map(drop),
                    table.delete(Staff::key("Sales", 2), IfMatch::Any).await,
                    table.delete(Staff::key("Sales", 1), IfMatch::Any).await,
                ];
                died += work.iter().filter(|done| done.is_err()).count();
                assert_eq!(died, 5 - at, "all that follow the death");
                let seen = stored(&store.engine, &["Company"]).await?;
                let applied = at + usize::from(fault == Fault::After);
                assert_eq!(seen, expected(&states[applied]), "{fault:?} {at}");

                // The next process finds nothing to recover.
                store.live();
                for staff in &states[applied] {
                    table.delete(Staff::key("Sales", staff.id), IfMatch::Any).await?;
                }
                assert!(stored(&store.engine, &["Company"]).await?.is_empty());
                Ok::<(), table_core::Error>(())
            })
            .unwrap();
        }
    }
}

/// Tests that a write detects changes that another writer makes between its read and its commit. The other writer changes rows directly in the engine.
#[test]
fn con_3_changes_between_the_read_and_the_write_are_detected() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities::<Staff>().create_if_missing().await?;
        table.insert(&ada()).await?;
        // The entity changed, including its e-mail address.
        store.before_submit(|engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            let change = |staff: &mut Staff| staff.email = Some("countess".to_owned());
            block_on(table.update(Staff::key("Sales", 1), change)).unwrap();
        });
        let written = table.update(Staff::key("Sales", 1), |staff| staff.age += 1).await?;
        let after = Staff { age: 37, email: Some("countess".to_owned()), ..ada() };
        assert_eq!((written.value(), stored(&store, &["Company"]).await?), (&after, expected([&after])));

        // Another entity joined the list and took the address.
        let other = Staff { id: 2, email: Some("byron".to_owned()), ..ada() };
        let taken = other.clone();
        store.before_submit(move |engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            block_on(table.insert(&taken)).unwrap();
        });
        let third = Staff { id: 3, ..other.clone() };
        let error = table.insert(&third).await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::UniqueViolation, Some("PAT-INTRA-5")));
        let source =
            std::error::Error::source(&error).and_then(|source| source.downcast_ref::<UniqueViolation>());
        assert_eq!(
            source.map(|source| (source.index, source.owner.row_key.as_str())),
            Some(("ByEmail", "empid_000002"))
        );
        assert_eq!(stored(&store, &["Company"]).await?, expected([&after, &other]));

        // If a condition that the caller has set fails, the write is not retried. A retry would hide a lost update.
        let read = table.get(Staff::key("Sales", 2)).await?.unwrap();
        store.before_submit(|engine| {
            let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
            block_on(table.update(Staff::key("Sales", 2), |staff| staff.note = None)).unwrap();
        });
        let error = table.replace(&Staff { age: 90, ..other.clone() }, read.etag()).await.unwrap_err();
        assert!(error.is_precondition_failed());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

/// Tests that the futures of a handle are `Send`, so they can run on multi-threaded runtimes.
#[test]
fn futures_are_send() {
    fn is_send<T: Send>(future: T) {
        drop(future);
    }
    let table = Engine::in_memory().entities::<Staff>();
    is_send(table.insert(&ada()));
    is_send(table.update(Staff::key("Sales", 1), |staff| staff.age += 1));
    is_send(table.patch(Staff::key("Sales", 1)).set(Staff::AGE, 3).send());
    is_send(table.bulk().insert_all([ada()]));
    is_send(table.get_by_index(Staff::by_last_name("Sales", "Lovelace")));
    is_send(table.backfill::<StaffByEmail>().assume_no_older_programs().run());
    is_send(table.check().repair().run());
}

#[test]
fn writes_take_the_documented_number_of_requests() {
    /// An entity without a list.
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Plain", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index(ByAge, row_key("age_", age, "_", id))]
    struct Two {
        department: String,
        id: u32,
        email: String,
        age: u8,
    }
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities::<Two>().create_if_missing().await?;
        let two = Two { department: "Sales".to_owned(), id: 1, email: "a".to_owned(), age: 3 };
        let (done, gets, submits) = store.count(table.insert(&two)).await;
        assert_eq!((done.is_ok(), gets, submits), (true, 0, 1));
        let (found, gets, submits) = store.count(table.get(Two::by_email("Sales", "a"))).await;
        assert_eq!((found?.as_deref(), gets, submits), (Some(&two), 1, 0));
        let read = table.get(Two::key("Sales", 1)).await?.unwrap();
        let (done, gets, submits) = store.count(table.update(&read, |two| two.age += 1)).await;
        assert_eq!((done.is_ok(), gets, submits), (true, 0, 1), "the version read before saves the read");
        let (done, gets, submits) = store.count(table.delete(Two::key("Sales", 1), IfMatch::Any)).await;
        assert_eq!((done.is_ok(), gets, submits), (true, 1, 1));
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn pat_intra_8_a_bulk_load_packs_by_rows_per_entity_and_resumes() {
    block_on(async {
        let store = Disturbed::new(Engine::in_memory());
        let table = store.entities::<Staff>().create_if_missing().await?;
        // Each write affects an entity, two copies, and a list shared by three entities.
        let staff = |id: u32| Staff {
            id,
            last_name: format!("Name{}", id / 3),
            email: Some(id.to_string()),
            ..ada()
        };
        let all: Vec<_> = (0..100).map(staff).collect();
        store.die_at(2, Fault::Before);
        let error = table.bulk().insert_all(&all).await.unwrap_err();
        assert_eq!(
            (error.written.len(), error.at),
            (60, Some(60)),
            "30 entities with 60 copies and 10 lists are 100 operations"
        );
        assert_eq!(error.unknown, (60..90).collect(), "what died may have been written");
        assert_eq!(stored(&store.engine, &["Company"]).await?, expected(&all[..60]));
        store.live();
        let (written, _, submits) = store.count(table.bulk().resume(error.written).insert_all(&all)).await;
        assert_eq!((written.map(|written| written.len()).ok(), submits), (Some(100), 2));
        assert_eq!(stored(&store.engine, &["Company"]).await?, expected(&all));
        let twins = [
            Staff { id: 200, last_name: "X".to_owned(), email: Some("twin".to_owned()), ..ada() },
            Staff { id: 201, last_name: "X".to_owned(), email: Some("twin".to_owned()), ..ada() },
        ];
        let error = table.bulk().insert_all(&twins).await.unwrap_err();
        assert_eq!(
            (error.source.code(), error.at, error.written.len()),
            (ErrorCode::UniqueViolation, Some(1), 1)
        );
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
