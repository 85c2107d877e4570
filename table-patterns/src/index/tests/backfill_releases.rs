//! Tests that a release with different indexes can continue a backfill. The key ranges of the entities depend on all indexes with partitions in the table.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{ErrorCode, TableStoreExt};

use super::kit::Records;
use crate::EntityStore;
use crate::faults::{Fault, FaultyStore};

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
release!(two: index(ByAge, row_key("age_", age, "_", id)), index(ByMail, unique, partition_key("mail_", mail), row_key("of_", id)));

const DEPARTMENTS: [&str; 3] = ["lobby", "sales", "workshop"];
const AGE: u16 = 36;

/// Interrupts the backfill of one release at each of its requests, and continues it with the other release.
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
