//! Tests rebuilds: the errors that they correct, the changes that they leave to the feeds, and resumption by another process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pollster::block_on;
use table_core::embedded::Clock;
use table_core::etag::IfMatch;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::query::{KeyRange, Query, TextRange};
use table_core::retry::Retry;
use table_core::store::TableStore;
use table_core::{ErrorCode, Result, TableStoreExt};

use super::kit::{Company, Department, Employee, Headcount, Unrecorded};
use super::verbs::Ages;
use crate::feed::Cursor;
use crate::tests::faults::Call;
use crate::view::applied::Applied;
use crate::view::{CaughtUp, Projection, RebuildPosition, View, ViewState, ViewTable};
use crate::work::Runtime;

#[test]
fn shares_are_read_only_for_entities_that_have_some() {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    let gets = || {
        company.store.heal();
        let source = Employee::key("Sales", 1).into_key().unwrap();
        let places = ["London", "Sales"].map(str::to_owned).into();
        block_on(company.view.apply_all([Applied { source, places }])).unwrap();
        company.store.calls().into_iter().filter(|call| matches!(call, Call::Get)).count()
    };
    // The first apply reads the list of partitions, the entity, and the sums of London and of Sales. The second reads the records in both partitions instead of
    // the sums.
    assert_eq!((gets(), gets()), (4, 4));
}

#[test]
fn a_rebuild_requests_many_entities_at_once() {
    let company = Company::new();
    let table = company.engine.table::<Unrecorded>();
    let one =
        |id| Unrecorded { department: "Sales".into(), id, name: "A".into(), city: "Rome".into(), age: 70 };
    block_on(table.bulk().insert_all((0..500).map(one))).unwrap();
    company.store.heal();
    block_on(company.view.rebuild().run()).unwrap();
    let calls = company.store.calls();
    let is = |wanted| calls.iter().filter(|call| **call == wanted).count();
    // Each transaction reads the sums that it changes.
    assert!(
        is(Call::Get) < 40 && is(Call::Query) < 24,
        "{} gets, {} queries",
        is(Call::Get),
        is(Call::Query)
    );
    company.assert_right("rebuilt");
    // Another tool makes these writes without recording them in the feed.
    for id in (0..500).step_by(9) {
        block_on(table.delete(Unrecorded::key("Sales", id), IfMatch::Any)).unwrap();
    }
    let built = block_on(company.view.rebuild().run()).unwrap();
    assert_eq!((built.applied, built.removed), (444, 56));
    company.assert_right("rebuilt once more");
}

#[test]
fn imp_6_a_new_view_over_old_rows_refuses_queries_until_it_is_built() {
    let company = Company::new();
    // These rows were written before the feed existed.
    let table = company.engine.table::<Unrecorded>();
    for id in 0..25 {
        let old =
            Unrecorded { department: "Sales".into(), id, name: "Old".into(), city: "London".into(), age: 36 };
        block_on(table.insert(&old)).unwrap();
    }
    block_on(
        company.engine.table::<Department>().insert(&Department { department: "Sales".into(), floor: 3 }),
    )
    .unwrap();
    company.hire("Sales", 100, "Ada", "London", 36);
    company.catch_up();
    assert_eq!(block_on(company.view.state()).unwrap(), ViewState::Building);
    let error = block_on(company.view.table()).unwrap_err();
    assert_eq!((error.code(), error.table()), (ErrorCode::IndexNotReady, Some("Headcounts")));

    // Each step runs in a new process, which has only the stored position.
    let (mut stored, mut steps) = (serde_json::to_string(&RebuildPosition::default()).unwrap(), 0);
    loop {
        let other = company.again();
        let mut rebuild = other.view.rebuild().page(4).resume(serde_json::from_str(&stored).unwrap());
        if !block_on(rebuild.step()).unwrap() {
            break;
        }
        steps += 1;
        stored = serde_json::to_string(rebuild.position()).unwrap();
        company.change("Sales", steps % 25, |one| one.age += 1);
    }
    let position: RebuildPosition = serde_json::from_str(&stored).unwrap();
    assert!(position.is_done() && position.progress().applied == 26 && steps > 10, "{position:?}");
    assert_eq!(block_on(company.view.state()).unwrap(), ViewState::Ready);
    company.catch_up();
    company.assert_right("built");
    assert!(block_on(company.again().view.table()).is_ok());
}

#[test]
fn imp_6_a_rebuild_repairs_errors_left_by_others() {
    let company = Company::new();
    for id in 0..5 {
        company.hire("Sales", id, "Ada", "London", 36);
    }
    company.catch_up();
    // The rebuild must correct a sum that was set manually, entities that were inserted and deleted without a feed entry, and an entity whose change was
    // trimmed from the feed.
    block_on(
        company.engine.table::<Headcount>().update(Headcount::key("London", "all"), |row| row.years = 7),
    )
    .unwrap();
    let table = company.engine.table::<Unrecorded>();
    block_on(table.delete(Unrecorded::key("Sales", 0), IfMatch::Any)).unwrap();
    block_on(table.update(Unrecorded::key("Sales", 1), |one| one.city = "Paris".into())).unwrap();
    block_on(company.engine.table::<Headcount>().delete(Headcount::key("Sales", "all"), IfMatch::Any))
        .unwrap();
    assert_ne!(company.stored(), Company::expected(&company.sources()));
    let progress = block_on(company.view.rebuild().run()).unwrap();
    assert_eq!((progress.applied, progress.removed, progress.corrected), (4, 1, 2));
    company.assert_right("mended");
    let progress = block_on(company.view.rebuild().run()).unwrap();
    assert_eq!((progress.removed, progress.corrected), (0, 0), "one that is gone is removed once");
    company.assert_right("again");
}

#[test]
fn imp_6_a_changed_projection_is_applied_by_a_rebuild() {
    struct Only;
    impl View for Only {
        type Source = Employee;
        type Row = Headcount;
        fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
            view.add(Headcount::key(&employee.name, "all"), Headcount::EMPLOYEES, 1)
        }
    }
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    company.hire("Sales", 2, "Ada", "Paris", 36);
    company.catch_up();
    let view = ViewTable::<Only, _>::new(company.engine.clone());
    block_on(view.rebuild().run()).unwrap();
    assert_eq!(company.stored(), [(("Ada".to_owned(), "all".to_owned()), (2, 0))].into());
}

#[test]
fn imp_6_a_rebuild_counts_partitions_once_and_clears_unexplained_sums() {
    let company = Company::new();
    let view = ViewTable::<Ages, _>::new(company.store.clone());
    for id in 0..60 {
        company.hire("Sales", id, "Ada", "London", i32::try_from(id).unwrap());
    }
    let stray = Headcount { of: "ages".into(), row: "stray".into(), employees: 7, years: 0 };
    block_on(company.engine.table::<Headcount>().insert(&stray)).unwrap();
    let mut rebuild = view.rebuild().page(10);
    while rebuild.position().progress().applied < 60 {
        block_on(rebuild.step()).unwrap();
    }
    company.store.heal();
    let progress = block_on(rebuild.run()).unwrap();
    assert_eq!((progress.applied, progress.corrected), (60, 1), "{progress:?}");
    // The queries read six pages each of entities, sources, records and lists. They also read the rows and the records of the only partition twice, and the
    // registry.
    let calls = company.store.calls();
    let queries = calls.iter().filter(|call| **call == Call::Query).count();
    assert_eq!(queries, 29);
    // The point queries read the wrong row at the start and at the end of its recount. They also read the cursor, the head, the state, and the lists that the
    // pages do not contain.
    let gets = calls.iter().filter(|call| **call == Call::Get).count();
    assert!((5..=65).contains(&gets), "{gets} gets");
    assert!(!company.stored().contains_key(&("ages".to_owned(), "stray".to_owned())));
    assert_eq!(company.stored().len(), 60);
}

/// Reads the employees' names in one city page by page, and runs a function after the first page.
fn names_around(company: &Company, between: impl FnOnce()) -> Vec<String> {
    let rows = block_on(company.view.table()).unwrap();
    let page = |from: Option<&_>| {
        let query =
            Query { top: Some(2), ..Query::new(KeyRange::rows("London", TextRange::prefix("name_"))) };
        block_on(company.store.query(rows.name().unwrap(), &query, from)).unwrap()
    };
    let mut names = Vec::new();
    let (mut found, mut between) = (page(None), Some(between));
    loop {
        names.extend(found.rows.iter().map(|row| row.row_key.to_owned()));
        between.take().into_iter().for_each(|between| between());
        let Some(from) = found.continuation else { return names };
        found = page(Some(&from));
    }
}

#[test]
fn imp_6_a_read_continues_at_its_position_after_a_rebuild() {
    let company = Company::new();
    for id in 0..7 {
        company.hire("Sales", id, "Ada", "London", 36);
    }
    block_on(company.view.rebuild().run()).unwrap();
    let before = names_around(&company, || ());
    let after = names_around(&company, || {
        block_on(company.view.rebuild().run()).unwrap();
    });
    assert_eq!((before.len(), &before), (7, &after));
}

#[test]
fn imp_6_a_recreated_view_is_building_for_handles_of_the_old_one() {
    let time = Arc::new(AtomicU64::new(639_307_584_000_000_000));
    let clock = Arc::clone(&time);
    let pace = Runtime::new().clock(Clock::new(move || clock.load(Ordering::SeqCst)));
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    let view = company.view.clone().with_retry(Retry::default().with_runtime(pace));
    let mut rebuild = view.rebuild();
    while block_on(rebuild.step()).unwrap() {}
    let stored = rebuild.position().clone();
    assert!(block_on(view.table()).is_ok());

    let table = TableName::new("Headcounts").unwrap();
    block_on(company.engine.delete_table(&table)).unwrap();
    let anew = block_on(view.clone().create_if_missing()).unwrap();
    time.fetch_add(110_000_000, Ordering::SeqCst);
    assert_eq!(block_on(view.table()).unwrap_err().code(), ErrorCode::IndexNotReady);
    let error = block_on(anew.rebuild().resume(stored).step()).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("IMP-6")));
    assert_eq!(block_on(anew.state()).unwrap(), ViewState::Building);
    block_on(anew.rebuild().run()).unwrap();
    assert_eq!(block_on(view.state()).unwrap(), ViewState::Ready);
}

fn position(company: &Company, department: &str) -> Cursor {
    block_on(company.view.position(&PartitionKey::new(department).unwrap())).unwrap()
}

#[test]
fn imp_6_changes_included_in_a_rebuild_are_not_followed_again() {
    let company = Company::new();
    for id in 0..30 {
        company.hire("Sales", id, "Ada", "London", 36);
        company.hire("Marketing", id, "Cy", "Paris", 30);
    }
    company.fire("Sales", 7);
    block_on(company.view.rebuild().run()).unwrap();
    company.assert_right("built");
    assert_eq!(block_on(company.view.catch_up(1_000)).unwrap(), CaughtUp::default());
    company.hire("Sales", 100, "Ada", "London", 36);
    assert_eq!(block_on(company.view.catch_up(1_000)).unwrap().changes, 1);
    company.assert_right("followed");
}

#[test]
fn imp_6_changes_during_a_rebuild_are_followed_after_it() {
    let company = Company::new();
    for id in 0..12 {
        company.hire("Sales", id, "Ada", "London", 36);
    }
    let mut rebuild = company.view.rebuild().page(4);
    let (mut changes, mut steps) = (0, 0);
    while block_on(rebuild.step()).unwrap() {
        // One entity changes after it has been read, another is deleted, and new entities are inserted into a partition that had no feed at the start.
        company.change("Sales", 1, |ada| ada.age += 1);
        company.hire("Marketing", steps, "Cy", "Paris", 30);
        (changes, steps) = (changes + 2, steps + 1);
        if steps == 1 {
            company.fire("Sales", 2);
            changes += 1;
        }
    }
    let caught = block_on(company.view.catch_up(1_000)).unwrap();
    assert_eq!((caught.changes, steps > 4), (changes, true));
    company.assert_right("followed");
}

#[test]
fn imp_6_a_rebuild_moves_no_cursor_back_and_none_before_its_end() {
    let company = Company::new();
    for id in 0..12 {
        company.hire("Sales", id, "Ada", "London", 36);
    }
    let mut rebuild = company.view.rebuild().page(4);
    block_on(rebuild.step()).unwrap();
    assert_eq!(position(&company, "Sales"), Cursor::default());
    company.hire("Sales", 50, "Ada", "London", 36);
    company.catch_up();
    let caught_up = position(&company, "Sales");
    while block_on(rebuild.step()).unwrap() {}
    assert_eq!(position(&company, "Sales"), caught_up);
    company.assert_right("built");

    // The table is deleted and recreated before the last step of another rebuild, and a follower reads the new table's feed.
    let mut rebuild = company.view.rebuild().page(4);
    while !serde_json::to_string(rebuild.position()).unwrap().contains("\"Feeds\"") {
        block_on(rebuild.step()).unwrap();
    }
    let table = company.employees.table().name().unwrap().clone();
    block_on(company.engine.delete_table(&table)).unwrap();
    block_on(company.engine.create_table(&table)).unwrap();
    company.hire("Sales", 60, "Ada", "London", 36);
    company.catch_up();
    let caught_up = position(&company, "Sales");
    assert_eq!(caught_up.number(), 1);
    while block_on(rebuild.step()).unwrap() {}
    assert_eq!(position(&company, "Sales"), caught_up);
}

#[test]
fn imp_6_the_end_of_a_long_feed_is_found_with_one_request() {
    let company = Company::new();
    for id in 0..2_500 {
        company.hire("Sales", id, "Ada", "London", 60);
    }
    let (feed, table) = (company.employees.feed(), company.employees.table().name().unwrap());
    company.store.heal();
    let end = block_on(feed.end(table, &PartitionKey::new("Sales").unwrap())).unwrap();
    assert_eq!((company.store.calls().len(), end.number()), (1, 2_500));

    block_on(company.view.rebuild().run()).unwrap();
    assert_eq!(position(&company, "Sales"), end);
    assert_eq!(block_on(company.view.catch_up(10_000)).unwrap(), CaughtUp::default());
    company.assert_right("built");
}
