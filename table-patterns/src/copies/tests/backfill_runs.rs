//! Tests backfills of copies that take several runs: interrupted runs, full reports, and a table recreated during a run.

use std::collections::BTreeSet;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query};
use table_core::store::TableStore;
use table_core::table::SchemaRecord;
use table_core::{Entity, ErrorCode, TableEntity, TableStoreExt};

use super::kit::{Company, Employee, Project, Store, ada, project};
use crate::converge;
use crate::entities::Entities;
use crate::fence;
use crate::outbox::Outbox;
use crate::outbox::rows::fresh;
use crate::tests::faults::{Call, Fault};

type Handle<E> = Entities<E, Store, Outbox<Store, Engine>>;

/// The names of the pending parts for the sources and for the holders.
const NOTES: [&str; 2] = ["keeps copied_by Lead", "keeps copies_from Lead"];

/// Opens a handle, and makes one of its copies pending.
fn restarted<E: Entity>(handle: &Handle<E>, note: &'static str) -> Handle<E> {
    let handle = block_on(handle.clone().create_if_missing()).unwrap();
    let restart = move |record: &mut SchemaRecord| {
        record.pending.clear();
        fence::restart(record, note, 1);
    };
    block_on(handle.table().update_schema_record(restart)).unwrap();
    handle
}

/// The result of all runs of a backfill.
struct Runs {
    failed: BTreeSet<EntityKey>,
    count: usize,
    /// The number of omitted rows in the last report.
    skipped: u64,
    /// The number of requests sent by the last run.
    requests: usize,
}

/// Makes copies pending, and runs their backfill until no report has a `retry_after`. Each run can send at most `most` requests.
fn backfilled<E: Entity>(
    (handle, store): (&Handle<E>, &Store),
    note: &'static str,
    (page, most): (usize, usize),
) -> Runs {
    let handle = restarted(handle, note);
    let mut runs = Runs { failed: BTreeSet::new(), count: 0, skipped: 0, requests: 0 };
    loop {
        runs.count += 1;
        assert!(runs.count < 60, "{most} requests");
        store.script(
            move |_, at| if at < most { Fault::None } else { Fault::Before(ErrorCode::EngineClosed) },
        );
        let run = block_on(handle.backfill_copies().page(page).assume_no_older_programs().run());
        runs.requests = store.calls().len();
        store.script(|_, _| Fault::None);
        let Ok(report) = run else { continue };
        assert!(report.failed.len() <= 1_000, "{}", report.failed.len());
        runs.skipped = report.skipped;
        runs.failed.extend(report.failed.into_iter().map(|(key, _)| key));
        if report.retry_after.is_none() {
            break;
        }
    }
    let record = block_on(handle.table().schema_record()).unwrap().unwrap();
    assert_eq!(record.pending, [""; 0]);
    runs
}

/// Replaces a project with a row that cannot be decoded.
fn break_row(engine: &Engine, project: &Project) {
    let key = project.key_of().unwrap();
    let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap().with("Lead", "Ada");
    block_on(engine.untyped("Projects").unwrap().insert_or_replace(&row)).unwrap();
}

/// Creates eight employees, each of whom is the lead of one project. The project with the number `broken` cannot be decoded, or pages of the store omit it.
fn leads(broken: usize, is_omitted: bool) -> (Company, Vec<Employee>, Vec<Project>) {
    let company = Company::new();
    let leads: Vec<_> = (1..9).map(|id| Employee { id, ..ada() }).collect();
    let led = |lead: &Employee| project(&format!("P{}", lead.id), i32::try_from(lead.id).ok());
    let projects: Vec<_> = leads.iter().map(led).collect();
    for (lead, project) in leads.iter().zip(&projects) {
        block_on(company.employees.insert(lead)).unwrap();
        block_on(company.projects.insert(project)).unwrap();
    }
    company.recover();
    if is_omitted {
        let key = projects[broken].key_of().unwrap();
        company.store.misread(("Lead", ErrorCode::EntityMismatch), move |_, of| *of == key);
    } else {
        break_row(&company.engine, &projects[broken]);
    }
    (company, leads, projects)
}

/// Tests runs that are each stopped after the same number of requests. Together, they must complete the copies and report the failed entity.
#[test]
fn pat_den_2_a_backfill_whose_runs_are_always_stopped_reports_a_failed_entity_and_ends() {
    for (broken, is_omitted) in
        [0, 3, 7].into_iter().flat_map(|at| [false, true].map(|omitted| (at, omitted)))
    {
        let run = |is_of_holders: bool, most: usize| {
            let (company, leads, projects) = leads(broken, is_omitted);
            let Company { employees, projects: holders, store, .. } = &company;
            let (runs, failed) = if is_of_holders {
                (backfilled((holders, store), NOTES[1], (1, most)), projects[broken].key_of())
            } else {
                (backfilled((employees, store), NOTES[0], (1, most)), leads[broken].key_of())
            };
            assert_eq!(runs.failed, BTreeSet::from([failed.unwrap()]), "{most} requests");
            runs
        };
        for is_of_holders in [false, true] {
            let whole = run(is_of_holders, usize::MAX);
            assert_eq!(whole.count, 1);
            for most in (whole.requests / 2..whole.requests).step_by(3) {
                assert!(run(is_of_holders, most).count > 1);
            }
        }
    }
}

/// Tests a project whose key the store does not return. The last report counts it, even if a run that was stopped has read its page.
#[test]
fn pat_den_2_a_backfill_counts_rows_whose_keys_are_unknown_over_all_runs() {
    let run = |most: usize| {
        let (company, _, projects) = leads(2, true);
        let key = projects[2].key_of().unwrap();
        company.store.misread(("RowKey", ErrorCode::EntityMismatch), move |_, of| *of == key);
        let runs = backfilled((&company.projects, &company.store), NOTES[1], (1, most));
        assert_eq!((runs.skipped, runs.failed.len()), (1, 0), "{most} requests");
        runs
    };
    let whole = run(usize::MAX);
    assert_eq!(whole.count, 1);
    for most in (whole.requests / 2..whole.requests).step_by(3) {
        assert!(run(most).count > 1);
    }
}

#[test]
fn pat_den_2_each_failed_entity_is_reported_also_if_one_report_has_no_space_for_all() {
    for page in [1_000, 700, 400] {
        let company = Company::new();
        let projects: Vec<_> =
            (0..1_500).map(|part| Project { part, ..project("Engine", Some(223)) }).collect();
        for project in &projects {
            break_row(&company.engine, project);
        }
        let runs = backfilled((&company.projects, &company.store), NOTES[1], (page, usize::MAX));
        let all: BTreeSet<_> = projects.iter().map(|project| project.key_of().unwrap()).collect();
        assert_eq!((runs.failed.len(), runs.count), (all.len(), 2), "pages of {page}");
        assert_eq!(runs.failed, all);
    }
}

/// Deletes the table of the employees and creates it again with the same rows, and makes the copies in all projects outdated.
fn recreate(engine: &Engine, projects: &[Project]) {
    let table = TableName::new("Company").unwrap();
    block_on(async {
        let page = engine.query(&table, &Query::new(KeyRange::ALL), None).await?;
        engine.delete_table(&table).await?;
        engine.create_table(&table).await?;
        for row in page.rows.iter() {
            let EntityKey { partition_key, row_key } = EntityKey::new(row.partition_key, row.row_key)?;
            let insert = [(row_key, OperationKind::Insert(fresh(&row.row.to_row())))];
            converge::submit(engine, &table, &partition_key, insert).await?;
        }
        for project in projects {
            let EntityKey { partition_key, row_key } = project.key_of()?;
            let row = TableEntity::new(partition_key.as_str(), row_key.as_str())?;
            let row = row.with("Lead", 223).with("LeadName", "outdated");
            engine.untyped("Projects")?.insert_or_replace(&row).await?;
        }
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

/// Tests a backfill during which the table is deleted and recreated. This happens before each request in turn, up to the last page, and the pass must then
/// start again.
#[test]
fn pat_den_2_a_backfill_that_starts_again_in_a_recreated_table_updates_all_holders() {
    let run = |number: usize| {
        let company = Company::new();
        block_on(company.employees.insert(&ada())).unwrap();
        let projects: Vec<_> = (0..3).map(|at| project(&format!("P{at}"), Some(223))).collect();
        for project in &projects {
            block_on(company.projects.insert(project)).unwrap();
        }
        company.recover();
        let later = company.after(1, |store| store.pages_of(1));
        let employees = restarted(&later.employees, NOTES[0]);
        let mut engine = Some(company.engine.clone());
        later.store.script(move |_, at| match engine.take_if(|_| at == number) {
            Some(engine) => {
                let projects = projects.clone();
                Fault::Meanwhile(Box::new(move || recreate(&engine, &projects)))
            }
            None => Fault::None,
        });
        let report = block_on(employees.backfill_copies().page(1).assume_no_older_programs().run()).unwrap();
        assert_eq!(report.retry_after, None, "request {number}");
        company.assert_copies(&format!("request {number}"));
        later.store.calls()
    };
    let last = run(usize::MAX).iter().rposition(|call| *call == Call::Query).unwrap();
    assert!(last > 6, "{last}");
    (0..=last).for_each(|number| drop(run(number)));
}
