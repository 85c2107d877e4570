//! Tests the number of requests and writes needed to backfill the copies of a source with many holders, and to delete such a source.

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::queue::QueueName;
use table_core::table::SchemaRecord;
use table_core::testing::LimitedStore;
use table_core::{Entity, TableEntity, TableStoreExt};

use super::kit::{Company, Employee, Project, ada, bob, project};
use crate::copies::CopiesReport;
use crate::entities::Entities;
use crate::fence;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, FaultyStore};

const NOTE: &str = "keeps copied_by Lead";

type Store = FaultyStore<LimitedStore<Engine>>;

/// Makes the copies of the employees' names pending, and backfills them in pages of `page` references. Returns the report and the store.
fn backfilled(engine: &Engine, page: usize, is_ordered: bool) -> (CopiesReport, Store) {
    let limited = LimitedStore::new(engine.clone(), |capabilities| capabilities.ordered = is_ordered);
    let store = FaultyStore::new(if is_ordered { limited } else { limited.shuffled(1_000) });
    let outbox = Outbox::new(store.clone(), engine.clone(), QueueName::new("copies").unwrap());
    let employees: Entities<Employee, _, _> = Entities::from(outbox);
    let employees = block_on(employees.create_if_missing()).unwrap();
    let restart = |record: &mut SchemaRecord| fence::restart(record, NOTE, 1);
    block_on(employees.table().update_schema_record(restart)).unwrap();
    store.heal();
    let report = block_on(employees.backfill_copies().page(page).assume_no_older_programs().run()).unwrap();
    let record = block_on(employees.table().schema_record()).unwrap().unwrap();
    assert_eq!(record.pending, [""; 0]);
    (report, store)
}

/// Returns a company in which the copies of both employees' names are outdated.
fn outdated(holders: &[Project]) -> Company {
    let company = Company::new();
    for employee in [ada(), bob()] {
        block_on(company.employees.insert(&employee)).unwrap();
    }
    for holder in holders {
        block_on(company.projects.insert(holder)).unwrap();
    }
    company.recover();
    for id in [9, 223] {
        let rename = |employee: &mut Employee| employee.last_name.push_str("-Byron");
        block_on(company.employees.update(Employee::key("Sales", id), rename)).unwrap();
    }
    company
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn pat_den_2_a_backfill_writes_each_holder_once_for_each_of_its_sources(
        roles in prop::collection::vec((any::<(bool, bool)>(), prop::bool::weighted(0.1)), 1..30),
        (page, is_ordered) in (1..9_usize, any::<bool>()),
    ) {
        let holder = |(at, ((is_led, has_deputy), _)): (usize, &((bool, bool), bool))| Project {
            lead: is_led.then_some(223),
            deputy: has_deputy.then_some(9),
            ..project(&format!("P{at:02}"), None)
        };
        let holders: Vec<Project> = roles.iter().enumerate().map(holder).collect();
        let company = outdated(&holders);
        let broken = |of: &Project| {
            let at: usize = of.name[1..].parse().unwrap();
            roles[at].1
        };
        for holder in holders.iter().filter(|holder| broken(holder)) {
            let key = holder.key_of().unwrap();
            let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap();
            let row = row.with("Lead", "Ada");
            block_on(company.engine.untyped("Projects").unwrap().insert_or_replace(&row)).unwrap();
        }
        let (report, _) = backfilled(&company.engine, page, is_ordered);
        let (mut written, mut failed, mut scanned) = (0, 0, 0);
        for is_of in [|of: &Project| of.lead.is_some(), |of: &Project| of.deputy.is_some()] {
            let of_source = || holders.iter().filter(|holder| is_of(holder));
            scanned += u64::from(of_source().next().is_some());
            // The writes for a source with a failure are not counted.
            let has_failed = of_source().any(broken);
            written += if has_failed { 0 } else { of_source().count() };
            failed += usize::from(has_failed);
        }
        let found = (report.scanned, report.written, report.failed.len());
        prop_assert_eq!(found, (scanned, u64::try_from(written).unwrap(), failed));
        for holder in holders.iter().filter(|holder| !broken(holder)) {
            let projects = company.engine.table::<Project>();
            let found = block_on(projects.get(Project::key(&holder.name, holder.part))).unwrap().unwrap();
            let mut expected = holder.clone();
            expected.lead_name = holder.lead.map(|_| "Lovelace-Byron".into());
            expected.deputy_name = holder.deputy.map(|_| "Kahn-Byron".into());
            prop_assert_eq!(found.into_value(), expected);
        }
    }
}

#[test]
fn pat_den_2_the_requests_of_a_backfill_grow_in_proportion_to_the_holders() {
    let requests = |count: usize| {
        let holders: Vec<_> = (0..count).map(|at| project(&format!("P{at}"), Some(223))).collect();
        let (report, store) = backfilled(&outdated(&holders).engine, 10, true);
        assert_eq!((report.scanned, report.written), (1, u64::try_from(count).unwrap()));
        store.calls().len()
    };
    let (few, many) = (requests(20), requests(80));
    assert!(many < 4 * few, "{few} and {many} requests");
}

#[test]
fn pat_den_2_a_deletion_of_a_source_deletes_its_references_together() {
    let submits = |count: usize| {
        let company = Company::new();
        block_on(company.employees.insert(&ada())).unwrap();
        for at in 0..count {
            block_on(company.projects.insert(&project(&format!("P{at}"), Some(223)))).unwrap();
        }
        company.recover();
        block_on(company.employees.delete(Employee::key("Sales", 223), IfMatch::Any)).unwrap();
        company.store.heal();
        block_on(company.worker().run_until_idle()).unwrap();
        let submits = company.store.calls().iter().filter(|call| **call == Call::Submit).count();
        company.assert_agreement("the source is deleted");
        assert!(company.references().is_empty());
        submits
    };
    // One transaction per holder is required.
    let (few, many) = (submits(20), submits(80));
    assert_eq!(many - few, 60, "{few} and {many} transactions");
}
