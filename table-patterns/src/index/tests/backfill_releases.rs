//! Tests that a release with different indexes can continue a backfill. The key ranges of the entities depend on all indexes that have partitions in the table.

mod reads;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::index::Index;
use table_core::name::TableName;
use table_core::{Entity, ErrorCode, Result, TableStore, TableStoreExt};

use super::kit::Records;
use crate::EntityStore;
use crate::entities::{Entities, NoOutbox};
use crate::index::IndexState;
use crate::tests::faults::{Call, Fault, FaultyStore};

/// Declares a release of the program, as a module.
macro_rules! release {
    ($release:ident: $($index:meta),*) => {
        mod $release {
            #[expect(clippy::allow_attributes, reason = "not every release has several indexes")]
            #[allow(clippy::duplicated_attributes, reason = "the indexes share attributes")]
            #[derive(Clone, Debug, PartialEq, table_core::Entity)]
            #[entity(table = "People", schema_name = "Person", crate = table_core)]
            #[partition_key("s_", department)]
            #[row_key("no_", id)]
            $(#[$index])*
            pub(super) struct Person {
                pub(super) department: String,
                #[digits(4)]
                pub(super) id: u16,
                pub(super) age: u16,
                pub(super) mail: String,
            }
        }
    };
}

release!(old:);
release!(one: index(ByAge, row_key("age_", age, "_", id)));
release!(later: index(ByAge, row_key("years_", age, "_", id)));
release!(wider: index(ByAge, row_key("age_", age, "_", id), include(mail)));
release!(narrow: index(ByAge, row_key("age_", age, "_", id), include()));
release!(two: index(ByAge, row_key("age_", age, "_", id)), index(ByMail, unique, partition_key("mail_", mail), row_key("of_", id)));

const DEPARTMENTS: [&str; 3] = ["lobby", "sales", "workshop"];
const AGE: u16 = 36;

/// Interrupts one release's backfill at each request, and continues it with the other release.
macro_rules! continues {
    ($first:ident, $then:ident) => {
        for number in 0.. {
            let store = FaultyStore::new(Engine::in_memory());
            let is_complete = block_on(async {
                let people = store.table::<old::Person>().create_if_missing().await?;
                for department in DEPARTMENTS {
                    for id in 0..2 {
                        let (department, mail) = (department.to_owned(), format!("{department}{id}"));
                        people.insert(&old::Person { department, id, age: AGE, mail }).await?;
                    }
                }
                let people = store.entities_with_outbox::<$first::Person, _>(Records::default());
                let people = people.create_if_missing().await?;
                store.heal();
                store.script(
                    move |_, at| {
                        if at == number { Fault::Before(ErrorCode::ServerBusy) } else { Fault::None }
                    },
                );
                let backfill = people.backfill::<$first::PersonByAge>().assume_no_older_programs().page(1);
                let is_complete = backfill.run().await.is_ok();
                store.heal();
                store.table::<$then::Person>().accept_schema("another release").await?;
                let people = store.entities_with_outbox::<$then::Person, _>(Records::default());
                let people = people.create_if_missing().await?;
                people.backfill::<$then::PersonByAge>().assume_no_older_programs().page(1).run().await?;
                for department in DEPARTMENTS {
                    let found = people.query($then::Person::by_age(department, AGE)).collect().await?;
                    assert_eq!(found.len(), 2, "{department} after request {number}");
                }
                Ok::<_, table_core::Error>(is_complete)
            });
            if is_complete.unwrap() {
                assert!(number > 10, "the backfill was interrupted only {number} times");
                break;
            }
        }
    };
}

#[test]
fn evo_21_a_release_with_fewer_indexes_continues_a_backfill_and_misses_no_entity() {
    continues!(two, one);
}

#[test]
fn evo_21_a_release_with_more_indexes_continues_a_backfill() {
    continues!(one, two);
}

/// Opens the table with the schema of a release.
async fn opened<E: Entity + Send + Sync, S: TableStore + Clone + 'static>(
    store: &S,
) -> Result<Entities<E, S, NoOutbox>> {
    store.create_table_if_missing(&TableName::new(E::SCHEMA.table)?).await?;
    store.table::<E>().accept_schema("another release").await?;
    store.entities::<E>().create_if_missing().await
}

async fn state<E: Entity, S: TableStore>(people: &Entities<E, S, NoOutbox>) -> Result<IndexState> {
    people.states().await.map(|states| states[0].1)
}

async fn backfill<I: Index, S: TableStore>(people: &Entities<I::Entity, S, NoOutbox>) -> Result<bool> {
    people
        .backfill::<I>()
        .assume_no_older_programs()
        .page(1)
        .run()
        .await
        .map(|report| report.retry_after.is_none())
}

/// Runs one release's backfill while, or after, another release declares the index differently.
macro_rules! redeclares {
    ($first:ident, $then:ident) => {
        for number in 0.. {
            let store = FaultyStore::new(Engine::in_memory());
            let count = block_on(async {
                let people = opened::<$first::Person, _>(&store).await?;
                for department in DEPARTMENTS {
                    for id in 0..2 {
                        let (department, mail) = (department.to_owned(), format!("{department}{id}"));
                        people.insert(&$first::Person { department, id, age: AGE, mail }).await?;
                    }
                }
                people.rebuild::<$first::PersonByAge>().await?;
                let other = store.inner().clone();
                store.script(move |_, at| {
                    let other = other.clone();
                    if at != number {
                        Fault::None
                    } else {
                        Fault::Meanwhile(Box::new(move || {
                            drop(block_on(opened::<$then::Person, _>(&other)).unwrap())
                        }))
                    }
                });
                let first = backfill::<$first::PersonByAge, _>(&people).await;
                let count = store.calls().len();
                store.heal();
                let people = opened::<$then::Person, _>(store.inner()).await?;
                let is_early = number < count;
                if is_early {
                    assert_eq!(state(&people).await?, IndexState::Building, "request {number}: {first:?}");
                }
                // The older program runs its backfill again, and must not complete the other release's backfill.
                let again = backfill::<$first::PersonByAge, _>(&store.entities::<$first::Person>()).await;
                assert_eq!(state(&people).await?, IndexState::Building, "{again:?}");
                assert!(again.unwrap_err().to_string().contains("create_if_missing"));
                backfill::<$then::PersonByAge, _>(&people).await?;
                for department in DEPARTMENTS {
                    let found = people.query($then::Person::by_age(department, AGE)).collect().await?;
                    assert_eq!(found.len(), 2, "{department} after request {number}");
                }
                assert!(people.check().run().await?.is_clean());
                Ok::<_, table_core::Error>(count)
            });
            if count.unwrap() <= number {
                assert!(number > 10, "the other release was opened only {number} times");
                break;
            }
        }
    };
}

#[test]
fn a_backfill_completes_only_the_index_as_its_program_declares_it() {
    redeclares!(one, later);
}

#[test]
fn a_backfill_without_a_property_does_not_complete_the_index_that_includes_it() {
    redeclares!(narrow, wider);
}

/// Tests a run during which another run completes the pass, and the index is then rebuilt. The first run must neither record a position nor complete the index.
#[test]
fn a_backfill_that_was_restarted_begins_again() {
    for number in 0.. {
        let store = FaultyStore::new(Engine::in_memory());
        let count = block_on(async {
            let people = opened::<one::Person, _>(&store).await?;
            for (id, department) in (0..).zip(DEPARTMENTS) {
                people
                    .insert(&one::Person { department: department.into(), id, age: AGE, mail: String::new() })
                    .await?;
            }
            people.rebuild::<one::PersonByAge>().await?;
            let restart = |engine: Engine| async move {
                let people = engine.entities::<one::Person>().create_if_missing().await?;
                people.rebuild::<one::PersonByAge>().await
            };
            let engine = store.inner().clone();
            store.script(move |_, at| {
                let engine = engine.clone();
                if at == number {
                    Fault::Meanwhile(Box::new(move || block_on(restart(engine)).unwrap()))
                } else {
                    Fault::None
                }
            });
            let first = backfill::<one::PersonByAge, _>(&people).await;
            let calls = store.calls();
            let count = calls.len();
            store.heal();
            // If the pass is restarted before the run reads its first page, the run may read the restarted pass and continue it.
            let begins = calls.iter().position(|call| *call == Call::Query);
            if first.is_err() {
                assert_eq!(state(&people).await?, IndexState::Building, "request {number}");
                let report = people.backfill::<one::PersonByAge>().assume_no_older_programs().run().await?;
                assert_eq!(report.scanned, 6, "all rows and entities after request {number}");
            }
            let may_continue = begins.is_none_or(|begins| number < begins) || number >= count;
            assert!(first.is_err() || may_continue, "request {number} of {count}");
            Ok::<_, table_core::Error>(count)
        });
        if count.unwrap() <= number {
            assert!(number > 10, "restarted only {number} times");
            break;
        }
    }
}

mod renamed {
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "People", schema_name = "Person", crate = table_core)]
    #[partition_key("s_", department)]
    #[row_key("no_", number)]
    #[index(ByAge, row_key("age_", age, "_", number))]
    pub(super) struct Person {
        pub(super) department: String,
        #[digits(4)]
        pub(super) number: u16,
        pub(super) age: u16,
        pub(super) mail: String,
        pub(super) phone: Option<String>,
    }
}

/// Tests that a release completes the index of another release if both store the same rows. The names of a key field may differ.
#[test]
fn a_backfill_completes_the_index_of_a_release_with_the_same_rows() {
    block_on(async {
        let store = Engine::in_memory();
        let people = opened::<one::Person, _>(&store).await?;
        people.rebuild::<one::PersonByAge>().await?;
        let later = opened::<renamed::Person, _>(&store).await?;
        assert_eq!(state(&later).await?, IndexState::Building);
        backfill::<one::PersonByAge, _>(&people).await?;
        assert_eq!(state(&later).await?, IndexState::Ready);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

/// Tests that a release does not complete the index of another release whose copies contain fewer properties. The other release could use the completed index
/// without another backfill.
#[test]
fn a_backfill_with_a_property_does_not_complete_the_index_without_it() {
    block_on(async {
        let store = Engine::in_memory();
        let people = opened::<wider::Person, _>(&store).await?;
        people.rebuild::<wider::PersonByAge>().await?;
        let later = opened::<narrow::Person, _>(&store).await?;
        later.rebuild::<narrow::PersonByAge>().await?;
        let error = backfill::<wider::PersonByAge, _>(&people).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        assert_eq!(state(&later).await?, IndexState::Building);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

/// Declares a release whose copies contain a level of the given type.
macro_rules! levels {
    ($release:ident: $level:ty) => {
        mod $release {
            #[derive(Clone, Debug, table_core::Entity)]
            #[entity(table = "Clerks", schema_name = "Clerk", crate = table_core)]
            #[partition_key("s_", department)]
            #[row_key("no_", id)]
            #[index(ByAge, row_key("age_", age, "_", id))]
            pub(super) struct Clerk {
                pub(super) department: String,
                #[digits(4)]
                pub(super) id: u16,
                pub(super) age: u16,
                pub(super) level: $level,
            }
        }
    };
}

levels!(small: i32);
levels!(large: i64);

/// Tests that a release does not complete an index if a property has a different type in the stored schema. The release cannot read all entities.
#[test]
fn a_backfill_does_not_complete_the_index_of_a_release_with_a_widened_property() {
    block_on(async {
        let store = Engine::in_memory();
        let clerks = opened::<small::Clerk, _>(&store).await?;
        let later = opened::<large::Clerk, _>(&store).await?;
        let clerk = table_core::TableEntity::new("s_sales", "no_0001")?.with("Age", i32::from(AGE));
        // A tool that is unaware of the index writes an entity.
        store.untyped("Clerks")?.insert(&clerk.with("Level", i64::MAX)).await?;
        later.rebuild::<large::ClerkByAge>().await?;
        let error = backfill::<small::ClerkByAge, _>(&clerks).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        backfill::<large::ClerkByAge, _>(&later).await?;
        assert_eq!(later.query(large::Clerk::by_age("sales", AGE)).collect().await?.len(), 1);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
