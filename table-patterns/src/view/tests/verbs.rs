//! Tests each operation on a view: its rows, requests, limits and errors.

use pollster::block_on;
use table_core::embedded::{Clock, EngineOptions};
use table_core::etag::IfMatch;
use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::store::TableStore;
use table_core::{EntityKey, Error, ErrorCode, Result, TableStoreExt, ValueRef};

use super::kit::{Company, Employee, Headcount};
use crate::entities::Entities;
use crate::feed::Feed;
use crate::tests::faults::{Call, sendable};
use crate::view::{CaughtUp, Projection, View, ViewTable};
use crate::work::Runtime;

#[test]
fn imp_6_the_layout_of_a_view() {
    const NOW: u64 = 639_307_584_000_000_000;
    let engine = EngineOptions::new().clock(Clock::new(|| NOW)).in_memory();
    let company = Company::on(engine, |store| store);
    let feed = Feed::with_runtime(company.store.clone(), Runtime::new().clock(Clock::new(|| NOW)));
    let (employees, view) =
        (company.employees.clone().with_feed(feed.clone()), company.view.clone().with_feed(feed));
    let ada =
        Employee { department: "Sales".into(), id: 223, name: "Ada".into(), city: "London".into(), age: 36 };
    block_on(employees.insert(&ada)).unwrap();
    block_on(view.catch_up(10)).unwrap();
    let mut lines = Vec::new();
    for table in ["Headcounts", "TablesFeeds"] {
        let (table, query) = (TableName::new(table).unwrap(), Query::new(KeyRange::ALL));
        for entity in block_on(company.engine.query(&table, &query, None)).unwrap().rows.iter() {
            lines.push(format!(
                "{table}: {} / {}",
                entity.partition_key,
                entity.row_key.replace('\u{FFFC}', "U+FFFC ")
            ));
            for property in entity.row.properties() {
                let property = property.unwrap();
                let value = match property.value {
                    // The cursor begins with the feed's identifier, which is different in each run.
                    ValueRef::String(cursor) if ["Cursor", "Quiet"].contains(&property.name) => {
                        format!("{{\"feed\":…,{}", cursor.split_once(',').unwrap().1)
                    }
                    ValueRef::Guid(_) => "Guid(which differs)".to_owned(),
                    value => format!("{value:?}"),
                };
                lines.push(format!("  {}: {value}", property.name));
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn imp_6_a_view_answers_with_point_queries_instead_of_scans() {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    company.hire("Sales", 2, "Bob", "London", 60);
    company.hire("Marketing", 1, "Cy", "Paris", 20);
    let caught = block_on(company.view.catch_up(100)).unwrap();
    assert_eq!(caught, CaughtUp { changes: 3, applied: 3, ..CaughtUp::default() });
    company.assert_right("hired");
    block_on(company.view.rebuild().run()).unwrap();
    let rows = block_on(company.view.table()).unwrap();
    company.store.heal();
    let london = block_on(rows.get(Headcount::key("London", "all"))).unwrap().unwrap();
    assert_eq!((london.employees, london.years, company.store.calls()), (2, 96, vec![Call::Get]));
    company.change("Sales", 1, |ada| (ada.city, ada.age) = ("Paris".into(), 70));
    company.fire("Sales", 2);
    company.catch_up();
    company.assert_right("moved and fired");
    assert_eq!(company.stored().len(), 4, "{:?}", company.stored());
}

#[test]
fn pat_ec_8_catching_up_is_bounded_and_resumes_at_its_position() {
    let company = Company::new();
    for id in 0..10 {
        company.hire("Sales", id, "Ada", "London", 36);
        company.hire("Marketing", id, "Ada", "London", 36);
    }
    let mut calls = Vec::new();
    // Each call runs in a new process.
    while calls.last().is_none_or(|last: &CaughtUp| last.is_behind) {
        calls.push(block_on(company.again().view.catch_up(6)).unwrap());
    }
    assert!(calls.iter().all(|call| call.changes <= 6), "{calls:?}");
    assert_eq!(calls.iter().map(|call| call.changes).sum::<usize>(), 20);
    company.assert_right("caught up");
    assert_eq!(block_on(company.view.catch_up(6)).unwrap(), CaughtUp::default());

    // A partition that keeps changing does not delay the other partitions.
    for age in 0..20 {
        company.change("Marketing", 1, |one| one.age = age);
    }
    company.change("Sales", 1, |one| one.age = 50);
    let caught = [block_on(company.view.catch_up(3)).unwrap(), block_on(company.view.catch_up(3)).unwrap()];
    assert_eq!(caught.map(|caught| caught.is_behind), [true; 2]);
    let sales = PartitionKey::new("Sales").unwrap();
    assert_eq!(block_on(company.view.catch_up_partition(&sales, 3)).unwrap().changes, 0, "{caught:?}");
    // An entity with several changes in one call is applied only once.
    let marketing = PartitionKey::new("Marketing").unwrap();
    let caught = block_on(company.view.catch_up_partition(&marketing, 100)).unwrap();
    assert_eq!((caught.applied, caught.is_behind), (1, false));
    company.assert_right("at the end");
}

#[test]
fn imp_6_the_lag_of_a_view_can_be_read() {
    let company = Company::new();
    assert_eq!(block_on(company.view.freshness()).unwrap().lag(u64::MAX), std::time::Duration::ZERO);
    company.hire("Sales", 1, "Ada", "London", 36);
    company.change("Sales", 1, |ada| ada.age = 37);
    company.hire("Marketing", 1, "Cy", "Paris", 20);
    let fresh = block_on(company.view.freshness()).unwrap();
    let oldest = fresh.oldest.unwrap();
    assert_eq!((fresh.pending, fresh.lag(oldest + 30_000_000).as_secs()), (3, 3));
    let sales = PartitionKey::new("Sales").unwrap();
    block_on(company.view.catch_up_partition(&sales, 1)).unwrap();
    assert_eq!(block_on(company.view.position(&sales)).unwrap().number(), 1);
    assert_eq!(block_on(company.view.freshness()).unwrap().pending, 2);
    company.catch_up();
    assert_eq!(block_on(company.view.freshness()).unwrap(), crate::view::Freshness::default());
}

/// A view with a sum for each age. If an employee's age changes, the employee is counted in another row of the same partition.
pub(super) struct Ages;

impl View for Ages {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        view.add(Headcount::key("ages", format!("{:06}", employee.age)), Headcount::EMPLOYEES, 1)
    }
}

/// A view whose projection panics for some employees.
struct Initials;

impl View for Initials {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        let initial = employee.name.chars().next().expect("a name has a first letter");
        view.add(Headcount::key("initials", initial.to_string()), Headcount::EMPLOYEES, 1)
    }
}

#[test]
fn imp_6_an_entity_at_which_a_projection_panics_is_set_aside_and_stops_no_other() {
    let company = Company::new();
    let view = ViewTable::<Initials, _>::new(company.engine.clone());
    for (id, name) in [(1, "Ada"), (2, ""), (3, "Ann")] {
        company.hire("Sales", id, name, "London", 36);
    }
    let sum = || {
        let row = block_on(block_on(view.table()).unwrap().get(Headcount::key("initials", "A")));
        row.unwrap().map(|row| row.employees)
    };
    block_on(view.rebuild().run()).unwrap();
    assert_eq!((sum(), block_on(view.poison()).unwrap().len()), (Some(2), 1));
    company.change("Sales", 2, |nameless| nameless.age = 37);
    company.hire("Sales", 4, "Alan", "London", 41);
    block_on(view.catch_up(100)).unwrap();
    let poison = block_on(view.poison()).unwrap();
    assert_eq!((sum(), poison.len()), (Some(3), 1), "{poison:?}");
    assert!(poison[0].error.contains("the projection panicked: a name has a first letter"), "{poison:?}");
    company.change("Sales", 2, |nameless| nameless.name = "Ari".into());
    block_on(view.catch_up(100)).unwrap();
    assert_eq!((sum(), block_on(view.poison()).unwrap().len()), (Some(4), 0));
}

/// A view whose projection returns an error for some employees. The age is the index of the error's code in `OUTAGES`.
struct Fussy;

/// Codes that denote an outage or work for a newer program if a store returns them.
const OUTAGES: [ErrorCode; 8] = [
    ErrorCode::InternalError,
    ErrorCode::Io,
    ErrorCode::ServerBusy,
    ErrorCode::OperationTimedOut,
    ErrorCode::UpdateConditionNotSatisfied,
    ErrorCode::SchemaMismatch,
    ErrorCode::FormatTooNew,
    ErrorCode::IndexNotReady,
];

impl View for Fussy {
    type Source = Employee;
    type Row = Headcount;

    fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
        if employee.name.is_empty() {
            let code = usize::try_from(employee.age).ok().and_then(|age| OUTAGES.get(age));
            return Err(Error::new(*code.unwrap(), "no name"));
        }
        view.add(Headcount::key("x", "all"), Headcount::EMPLOYEES, 1)
    }
}

#[test]
fn imp_6_an_entity_whose_projection_returns_any_error_is_set_aside_and_stops_no_other() {
    for (age, code) in (0..).zip(OUTAGES) {
        let company = Company::new();
        let view = ViewTable::<Fussy, _>::new(company.engine.clone());
        let sum = || {
            let row = block_on(block_on(view.table()).unwrap().get(Headcount::key("x", "all")));
            row.unwrap().map(|row| row.employees)
        };
        for (id, name) in [(1, "Ada"), (2, ""), (3, "Ann")] {
            company.hire("Sales", id, name, "London", age);
        }
        let progress = block_on(view.rebuild().run()).unwrap();
        assert_eq!((progress.failed, sum()), (1, Some(2)), "{code:?}");
        company.change("Sales", 2, |nameless| nameless.city = "Paris".into());
        company.hire("Sales", 4, "Alan", "London", 41);
        block_on(view.catch_up(100)).unwrap();
        let poison = block_on(view.poison()).unwrap();
        assert_eq!((sum(), poison.len()), (Some(3), 1), "{code:?}: {poison:?}");
        assert!(poison[0].error.contains("no name"), "{poison:?}");
        let error = block_on(view.apply(&poison[0].source)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput, "{code:?}: {error}");
        company.change("Sales", 2, |nameless| nameless.name = "Ari".into());
        block_on(view.catch_up(100)).unwrap();
        assert_eq!((sum(), block_on(view.poison()).unwrap().len()), (Some(4), 0), "{code:?}");
    }
}

#[test]
fn imp_6_an_entity_keeps_records_only_of_its_current_sums() {
    let company = Company::new();
    let view = ViewTable::<Ages, _>::new(company.engine.clone());
    company.hire("Sales", 1, "Ada", "London", 0);
    // A single property would be far too small for this many zeros.
    for age in 1..=1_700 {
        company.change("Sales", 1, |ada| ada.age = age);
        block_on(view.apply(&EntityKey::new("Sales", "empid_000001").unwrap())).unwrap();
    }
    assert_eq!(company.stored(), [(("ages".to_owned(), "001700".to_owned()), (1, 0))].into());
    let records = company.records("Headcounts", "ages");
    assert_eq!(records.len(), 1);
    assert!(records[0].len() < 300, "{records:?}");
}

#[test]
fn invalid_input_is_refused_and_nothing_is_partially_written() {
    struct Bad;
    impl View for Bad {
        type Source = Employee;
        type Row = Headcount;
        fn project(employee: &Employee, view: &mut Projection<Headcount>) -> Result<()> {
            let key = || Headcount::key("x", "all");
            let row = Headcount { of: "x".into(), row: "all".into(), employees: 1, years: 1 };
            match employee.age {
                1 => {
                    view.put(&row)?;
                    view.put(&row)
                }
                2 => {
                    view.put(&row)?;
                    view.add(key(), Headcount::EMPLOYEES, 1)
                }
                3 => {
                    view.add(key(), Headcount::EMPLOYEES, i64::MAX)?;
                    view.add(key(), Headcount::EMPLOYEES, 1)
                }
                4 => (0..100).try_for_each(|row| {
                    view.put(&Headcount { of: "x".into(), row: format!("{row:03}"), employees: 1, years: 1 })
                }),
                _ => view.add(key(), Headcount::EMPLOYEES, i64::MAX - 1),
            }
        }
    }
    let company = Company::new();
    let view = ViewTable::<Bad, _>::new(company.engine.clone());
    for (age, code) in [
        (1, ErrorCode::InvalidInput),
        (2, ErrorCode::InvalidInput),
        (3, ErrorCode::OutOfRangeInput),
        (4, ErrorCode::InvalidInput),
    ] {
        company.hire("Sales", 1, "Ada", "London", age);
        let error = block_on(view.apply(&EntityKey::new("Sales", "empid_000001").unwrap())).unwrap_err();
        assert_eq!(error.code(), code, "{age}: {error}");
        assert_eq!(block_on(view.catch_up(10)).unwrap().failed, usize::from(age == 1));
        assert!(company.stored().is_empty(), "{age}");
        company.fire("Sales", 1);
    }
    block_on(view.catch_up(10)).unwrap();
    // The sum overflows for two entities. The second is set aside until it is corrected.
    company.hire("Sales", 2, "Ada", "London", 5);
    company.hire("Sales", 3, "Ada", "London", 5);
    assert_eq!(block_on(view.catch_up(10)).unwrap().failed, 1);
    let error = block_on(view.apply(&EntityKey::new("Sales", "empid_000003").unwrap())).unwrap_err();
    assert_eq!((error.code(), error.key()), (ErrorCode::OutOfRangeInput, Some(("Sales", "empid_000003"))));
    assert_eq!(company.stored(), [(("x".to_owned(), "all".to_owned()), (i64::MAX - 1, 0))].into());
    company.fire("Sales", 2);
    block_on(view.catch_up(10)).unwrap();
    assert!(company.stored().is_empty());
    assert_eq!(block_on(view.retry_poison()).unwrap(), 1);
    assert_eq!(company.stored().len(), 1);
}

#[test]
fn key_8_an_entity_that_leaves_no_space_for_record_keys_is_refused() {
    let company = Company::new();
    for (length, fits) in [(503, true), (504, false)] {
        let key = EntityKey::new("Sales", "x".repeat(length)).unwrap();
        assert_eq!(
            block_on(company.view.apply(&key)).map_err(|error| error.rule()),
            if fits { Ok(()) } else { Err(Some("KEY-8")) }
        );
    }
}

#[test]
fn pat_ec_8_a_handle_with_a_feed_writes_entity_and_record_together() {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    company.store.heal();
    company.change("Sales", 1, |ada| ada.age += 1);
    assert_eq!(company.store.calls(), [Call::Get, Call::Submit]);
    let employees: &Entities<Employee, _> = &company.employees;
    let ada =
        Employee { department: "Sales".into(), id: 1, name: "Ada".into(), city: "London".into(), age: 1 };
    assert!(block_on(employees.insert(&ada)).unwrap_err().is_already_exists());
    assert_eq!(
        block_on(employees.update(Employee::key("Sales", 1), |ada| ada.id = 2)).unwrap_err().rule(),
        Some("UPD-6")
    );
    assert!(block_on(employees.update(Employee::key("Sales", 9), |_| ())).unwrap_err().is_not_found());
    assert!(block_on(employees.delete(Employee::key("Sales", 9), IfMatch::Any)).unwrap_err().is_not_found());
    block_on(employees.insert_or_replace(&ada)).unwrap();
    let table = employees.table().name().unwrap();
    let sales = PartitionKey::new("Sales").unwrap();
    let entries =
        block_on(employees.feed().read(table, &sales, &crate::feed::Cursor::default(), 10)).unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.kind.as_str(), entry.source.as_str())).collect();
    assert_eq!(kinds, ["inserted", "updated", "updated"].map(|kind| (kind, "empid_000001")));
    assert_eq!(block_on(employees.feed().partitions(table)).unwrap(), [sales]);
    let listed = futures_util::TryStreamExt::try_collect::<Vec<_>>(company.engine.tables(""));
    let names: Vec<_> = block_on(listed).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Company", "Headcounts"], "the registry is left out");
}

#[test]
fn futures_are_send() {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    block_on(sendable(company.view.catch_up(3))).unwrap();
    block_on(sendable(company.view.freshness())).unwrap();
    block_on(sendable(company.view.rebuild().run())).unwrap();
    block_on(sendable(company.employees.update(Employee::key("Sales", 1), |_| ()))).unwrap();
    assert!(block_on(sendable(company.view.table())).is_ok());
}

#[test]
fn imp_6_entities_that_changed_together_share_transactions() {
    let company = Company::new();
    for id in 0..100 {
        company.hire("Sales", id, "Ada", "London", 61);
    }
    company.store.heal();
    assert_eq!(block_on(company.view.catch_up(100)).unwrap().applied, 100);
    let submits = company.store.calls().into_iter().filter(|call| *call == Call::Submit).count();
    // One transaction writes the lists of partitions. The city and the department need two transactions each, because a transaction holds at most 99 records
    // and the sum. Three writes are for the lease, the cursor, and the release of the lease. Two writes mark the feed as quiet.
    assert_eq!(submits, 1 + 2 * 2 + 3 + 2);
    company.assert_right("caught up");
    let before = company.stored();
    block_on(company.view.rebuild().run()).unwrap();
    assert_eq!(company.stored(), before);
}
