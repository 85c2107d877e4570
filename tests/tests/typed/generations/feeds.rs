//! Tests a feed that is added while an older release writes. No write may be rejected, and no view may miss a write.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::table::LEASE;
use table_core::{Entity, ErrorCode, IfMatch, Result, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::view::{Projection, View, ViewTable};
use tests::time::Time;

use super::kit::{raced, under_load};
use super::{before, fed, refused, table_at};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Headcounts")]
#[partition_key(department)]
#[row_key("sums")]
pub(super) struct Headcount {
    department: String,
    employees: i64,
    letters: i64,
}

pub(super) struct Headcounts;

impl View for Headcounts {
    type Source = fed::Employee;
    type Row = Headcount;

    fn project(employee: &fed::Employee, view: &mut Projection<Headcount>) -> Result<()> {
        let letters = i64::try_from(employee.email.len()).unwrap();
        view.add(Headcount::key(&employee.department), Headcount::EMPLOYEES, 1)?;
        view.add(Headcount::key(&employee.department), Headcount::LETTERS, letters)
    }
}

/// Returns the totals in the view, and the totals computed from the entities.
async fn sums(store: &Engine, view: &ViewTable<Headcounts, Engine>) -> [(i64, i64); 2] {
    while view.catch_up(1_000).await.unwrap().is_behind {}
    let row = view.table().await.unwrap().get(Headcount::key("Sales")).await.unwrap();
    let all = store.table::<fed::Employee>().query(fed::Employee::rows("Sales")).collect().await.unwrap();
    let letters = all.iter().map(|employee| i64::try_from(employee.email.len()).unwrap()).sum();
    [row.map_or((0, 0), |row| (row.employees, row.letters)), (i64::try_from(all.len()).unwrap(), letters)]
}

#[test]
fn two_programs_under_load_are_not_refused_and_a_view_of_the_new_feed_misses_nothing() {
    let time = Time::default();
    let store = time.engine();
    let old = block_on(table_at::<before::Employee>(&time, &store).create_if_missing()).unwrap();
    let new = store.entities::<fed::Employee>().with_runtime(time.runtime());
    let new = block_on(new.create_if_missing()).unwrap();
    let retry = Retry::default().with_runtime(time.runtime());
    let view = block_on(ViewTable::new(store.clone()).with_retry(retry).create_if_missing()).unwrap();
    let key = |round: u32| fed::Employee::key("Sales", round % 8);
    let employee = |id, email: String| fed::Employee { department: "Sales".into(), id, email };
    let older = |round: u32| {
        let (id, email) = (round % 8, "o".repeat(1 + usize::try_from(round % 24).unwrap()));
        let key = || before::Employee::key("Sales", id);
        match round % 4 {
            0 => raced(block_on(old.delete(key(), IfMatch::Any))),
            1 => raced(block_on(old.update(key(), |one| one.email.clone_from(&email)))),
            2 => raced(block_on(old.insert_or_replace(&before::employee(id, &email)))),
            _ => raced(block_on(old.insert(&before::employee(id, &email)))),
        }
    };
    under_load(&time, 150, older, |round| {
        let email = "n".repeat(1 + usize::try_from(round % 20).unwrap());
        match round % 3 {
            0 => raced(block_on(new.delete(key(round), IfMatch::Any))),
            1 => raced(block_on(new.insert(&employee(round % 8, email)))),
            _ => raced(block_on(new.update(key(round), |one| one.email.clone_from(&email)))),
        }
        if round % 20 == 0 {
            assert!(block_on(new.backfill_feed().run()).unwrap().is_some(), "the older program writes");
            let error = block_on(view.rebuild().run()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::IndexNotReady, "{error}");
            assert!(error.to_string().contains("backfill_feed"), "{error}");
        }
    });
    block_on(async {
        while let Some(rest) = new.backfill_feed().run().await.unwrap() {
            time.pass(rest);
        }
        time.pass(LEASE * 2);
        assert!(refused(old.insert(&before::employee(77, "late")).await));
        view.rebuild().run().await.unwrap();
        let [is, wanted] = sums(&store, &view).await;
        assert_eq!(is, wanted, "rebuilt");
        for id in 0..8 {
            raced(new.update(key(id), |one| one.email.push('!')).await);
        }
        let [is, wanted] = sums(&store, &view).await;
        assert_eq!(is, wanted, "followed");
        assert!(wanted.0 > 0);
    });
}
