//! Tests wide entities with more parts (rows) than an older program declares.

use pollster::block_on;
use table_core::ErrorCode;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::table::LEASE;
use table_patterns::wide::{Wide, WideStore, WideTable};
use tests::time::Time;

use super::{refused, table_at};

mod narrow {
    #[derive(table_patterns::wide::Wide, Debug, Clone)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
        pub employee: u32,
        pub year: u16,
        pub a: i32,
        #[part(2)]
        pub b: i32,
    }
}

/// The newer release. It adds a property to a part that the older release already has.
mod longer {
    #[derive(table_patterns::wide::Wide, Debug, Clone, PartialEq)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
        pub employee: u32,
        pub year: u16,
        pub a: i32,
        #[part(2)]
        pub b: i32,
        pub note: Option<String>,
    }
}

#[derive(Wide, Debug, Clone, PartialEq)]
#[entity(table = "Counts")]
#[partition_key(employee)]
#[row_key(year)]
struct Counts {
    employee: u32,
    year: u16,
    a: i32,
    #[part(2)]
    b: i32,
    #[part(3)]
    c: i32,
}

#[test]
fn a_wide_entity_of_more_parts_stays_whole() {
    block_on(async {
        let store = Engine::in_memory();
        let old = store.wide::<narrow::Counts>().create_if_missing().await.unwrap();
        let new = store.wide::<Counts>();
        let whole = Counts { employee: 1, year: 2014, a: 1, b: 1, c: 1 };
        new.insert(&whole).await.unwrap();
        let key = || narrow::Counts::key(1, 2014);
        let replaced = old.insert_or_replace(&narrow::Counts { employee: 1, year: 2014, a: 2, b: 2 }).await;
        let patched = old.patch(key()).set(narrow::Counts::A, 2).set(narrow::Counts::B, 2).send().await;
        for error in [replaced.unwrap_err(), patched.unwrap_err()] {
            assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
        }
        assert_eq!(new.get(Counts::key(1, 2014)).await.unwrap().unwrap().0, whole);
        old.set(key(), narrow::Counts::A, 3).await.unwrap();
        assert_eq!(new.get(Counts::key(1, 2014)).await.unwrap().unwrap().0, Counts { a: 3, ..whole });
    });
}

#[test]
fn an_older_program_keeps_the_properties_of_a_wide_entity_that_it_does_not_declare() {
    block_on(async {
        let store = Engine::in_memory();
        let old = store.wide::<narrow::Counts>().create_if_missing().await.unwrap();
        let new = store.wide::<longer::Counts>();
        let whole = longer::Counts { employee: 1, year: 2014, a: 1, b: 1, note: Some("new".into()) };
        new.insert(&whole).await.unwrap();
        let key = || narrow::Counts::key(1, 2014);
        old.set(key(), narrow::Counts::B, 2).await.unwrap();
        old.patch(key()).set(narrow::Counts::A, 3).set(narrow::Counts::B, 3).send().await.unwrap();
        old.update(key(), |counts| (counts.a, counts.b) = (4, 4)).await.unwrap();
        let (found, _) = new.get(longer::Counts::key(1, 2014)).await.unwrap().unwrap();
        assert_eq!(found, longer::Counts { a: 4, b: 4, ..whole });
    });
}

/// A newer version of the wide entity, with different keys. The same table contains an ordinary entity. The older program writes wide entities in units of work
/// (transactions of several entities) of the ordinary entity.
mod rekeyed {
    #[derive(table_patterns::wide::Wide, Debug, Clone)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key("year_", year)]
    pub(super) struct Counts {
        pub employee: u32,
        pub year: u16,
        pub a: i32,
        #[part(2)]
        pub b: i32,
    }

    #[derive(table_core::Entity, Debug, Clone)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key("person_", id)]
    pub(super) struct Person {
        pub employee: u32,
        pub id: u16,
    }
}

#[test]
fn an_older_program_writes_no_wide_entity_once_a_newer_program_has_changed_the_keys() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let retry = Retry::default().with_runtime(time.runtime());
        let old = WideTable::<narrow::Counts, _>::new(table_at(&time, &store)).with_retry(retry);
        let old = old.create_if_missing().await.unwrap();
        let persons = table_patterns::Entities::from(table_at::<rekeyed::Person>(&time, &store));
        let persons = persons.with_runtime(time.runtime()).create_if_missing().await.unwrap();
        let whole = narrow::Counts { employee: 1, year: 2014, a: 1, b: 1 };
        let version = old.insert(&whole).await.unwrap();
        let new = WideTable::<rekeyed::Counts, _>::new(table_at(&time, &store));
        new.table().accept_schema("all rows are rewritten").await.unwrap();
        time.pass(LEASE * 2);

        let key = || narrow::Counts::key(1, 2014);
        let unit = || persons.unit(rekeyed::Person::partition(1)).unwrap();
        let (mut put, mut inserted, mut deleted) = (unit(), unit(), unit());
        put.put_wide(Some(&version), &whole).unwrap();
        inserted.put_wide(None, &narrow::Counts { year: 2016, ..whole.clone() }).unwrap();
        deleted.delete_wide::<narrow::Counts>(key(), &version).unwrap();
        let outcomes = [
            refused(old.insert(&narrow::Counts { year: 2015, ..whole.clone() }).await),
            refused(old.insert_or_replace(&whole).await),
            refused(old.replace(&whole, &version).await),
            refused(old.update(key(), |counts| counts.a = 2).await),
            refused(old.set(key(), narrow::Counts::A, 2).await),
            refused(old.patch(key()).set(narrow::Counts::A, 2).set(narrow::Counts::B, 2).send().await),
            refused(put.commit().await),
            refused(inserted.commit().await),
            refused(deleted.commit().await),
            refused(old.delete(key(), &version).await),
        ];
        assert_eq!(outcomes, [true; 10]);
        let (found, _) = old.get(key()).await.unwrap().unwrap();
        assert_eq!((found.a, found.b), (1, 1));
    });
}
