//! Tests sources with holders in a table whose stored schema was extended by a newer program, and backfill runs superseded by another pass.

use std::collections::BTreeSet;
use std::time::Duration;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::table::SchemaRecord;
use table_core::{Entity, ErrorCode, QueueName, TableEntity, TableStoreExt};

use super::desk::{Agent, Line, Ticket, agent, line, ticket};
use super::kit::{Company, Employee, Project, ada, project, sales};
use crate::EntityStore;
use crate::copies::CopiesReport;
use crate::entities::Entities;
use crate::fence;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, Fault, FaultyStore};

/// The later release of the holders' program.
mod newer {
    use super::Entity;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Projects", feed)]
    #[partition_key(name)]
    #[row_key(part)]
    pub(super) struct Project {
        pub(super) name: String,
        pub(super) part: u16,
        pub(super) lead: Option<i32>,
        pub(super) lead_name: Option<String>,
        pub(super) deputy: Option<i32>,
        pub(super) deputy_name: Option<String>,
    }
}

const NOTE: &str = "keeps copied_by Lead";

/// Opens the employees' handle, and makes the copies of their names pending.
fn reopened(company: &Company) -> Company {
    let mut later = company.after(1, |store| store.pages_of(1));
    later.employees = block_on(later.employees.clone().create_if_missing()).unwrap();
    let restart = |record: &mut SchemaRecord| fence::restart(record, NOTE, 1);
    block_on(later.employees.table().update_schema_record(restart)).unwrap();
    later
}

fn is_pending(company: &Company) -> bool {
    let record = block_on(company.employees.table().schema_record()).unwrap().unwrap();
    record.pending.iter().any(|pending| pending == NOTE)
}

fn backfill(company: &Company) -> table_core::Result<CopiesReport> {
    block_on(company.employees.backfill_copies().page(1).assume_no_older_programs().run())
}

#[test]
fn pat_den_2_a_holder_of_a_newer_program_is_never_reported_as_a_lasting_error() {
    for name in ["Engine", "Loom", "Mill", "Canal", "Bridge", "Dam"] {
        let company = Company::new();
        block_on(company.employees.insert(&ada())).unwrap();
        block_on(company.departments.insert(&sales(Some(223)))).unwrap();
        block_on(company.projects.insert(&project(name, Some(223)))).unwrap();
        company.recover();
        // The department cannot be decoded, and a newer program has added a feed to the projects.
        let key = sales(None).key_of().unwrap();
        let row = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap();
        let row = row.with("EmployeeCount", "many");
        block_on(company.engine.untyped("Company").unwrap().insert_or_replace(&row)).unwrap();
        let projects = company.engine.entities::<newer::Project>();
        let projects = block_on(projects.create_if_missing()).unwrap();
        block_on(projects.backfill_feed().assume_no_older_programs().run()).unwrap();

        let later = reopened(&company);
        let settled = block_on(later.employees.settle_copies(Employee::key("Sales", 223)));
        assert_eq!(settled.unwrap_err().code(), ErrorCode::SchemaMismatch, "{name}");
        assert_eq!(backfill(&later).unwrap_err().code(), ErrorCode::SchemaMismatch, "{name}");
        assert!(is_pending(&later), "{name}");
        let rename = |ada: &mut Employee| ada.last_name = "Byron".into();
        let _ = block_on(company.employees.update(Employee::key("Sales", 223), rename));
        let worker = later.worker().with_index_handler(&later.employees);
        block_on(worker.run_until_idle()).unwrap();
        assert_eq!((worker.metrics().failures, worker.metrics().poisoned), (0, 0), "{name}");
    }
}

#[test]
fn pat_den_2_the_holders_of_a_refused_table_cost_one_read_of_its_schema() {
    let reads = |count: u16| {
        let company = Company::new();
        block_on(company.employees.insert(&ada())).unwrap();
        for part in 0..count {
            block_on(company.projects.insert(&Project { part, ..project("Engine", Some(223)) })).unwrap();
        }
        company.recover();
        let projects = block_on(company.engine.entities::<newer::Project>().create_if_missing()).unwrap();
        block_on(projects.backfill_feed().assume_no_older_programs().run()).unwrap();
        let later = reopened(&company);
        later.store.heal();
        block_on(later.employees.settle_copies(Employee::key("Sales", 223))).unwrap_err();
        later.store.calls().into_iter().filter(|call| *call == Call::Get).count()
    };
    assert_eq!(reads(1), reads(7));
}

#[test]
fn pat_den_2_a_superseded_backfill_of_copies_asks_for_another_run() {
    let mut superseded = 0;
    for request in 0..40 {
        let company = Company::new();
        block_on(company.employees.insert(&ada())).unwrap();
        for part in 0..4 {
            block_on(company.projects.insert(&Project { part, ..project("Engine", Some(223)) })).unwrap();
        }
        company.recover();
        let later = reopened(&company);
        let rival = company.again();
        let rival = block_on(rival.employees.create_if_missing()).unwrap();
        let mut rival = Some(rival);
        later.store.script(move |_: Call, number| match rival.take_if(|_| number == request) {
            Some(rival) => Fault::Meanwhile(Box::new(move || {
                let restart = |record: &mut SchemaRecord| fence::restart(record, NOTE, 7);
                block_on(rival.table().update_schema_record(restart)).unwrap();
            })),
            None => Fault::None,
        });
        let report = backfill(&later).unwrap();
        later.store.heal();
        let is_left = is_pending(&later);
        assert!(!is_left || report.retry_after.is_some_and(|time| time > Duration::ZERO), "{request}");
        superseded += u32::from(report.retry_after.is_some());
    }
    assert!(superseded > 0);
}

/// Tests that a backfill reports each failed entity, whichever request fails. The entity fails only in the first of two passes.
#[test]
fn pat_den_2_no_failed_entity_of_a_backfill_is_lost() {
    const NOTES: [&str; 2] = ["keeps copied_by OfTicket", "keeps copies_from Assignee"];
    for is_lost in [false, true] {
        for number in 0.. {
            let engine = Engine::in_memory();
            let store = FaultyStore::new(engine.clone());
            let queue = QueueName::new("copies").unwrap();
            let outbox = Outbox::new(store.clone(), engine.clone(), queue);
            let tickets: Entities<Ticket, _, _> = Entities::from(outbox.clone());
            let tickets = block_on(tickets.create_if_missing()).unwrap();
            let agents: Entities<Agent, _, _> = Entities::from(outbox.clone());
            block_on(agents.insert(&agent(1, "Ada"))).unwrap();
            block_on(tickets.insert(&ticket(1, Some(1)))).unwrap();
            let lines: Entities<Line, _, _> = Entities::from(outbox);
            block_on(lines.insert(&line(1, Some(1)))).unwrap();
            // The line cannot be decoded.
            let bad = TableEntity::new("t", "line_1").unwrap().with("Ticket", "one");
            block_on(engine.untyped("Desk").unwrap().insert_or_replace(&bad)).unwrap();
            let restart = |record: &mut SchemaRecord| {
                for note in NOTES {
                    fence::restart(record, note, 1);
                }
            };
            block_on(tickets.table().update_schema_record(restart)).unwrap();
            store.script(move |_, at| match is_lost {
                _ if at != number => Fault::None,
                false => Fault::Before(ErrorCode::ServerBusy),
                true => Fault::After(ErrorCode::ServerBusy),
            });
            let (mut failed, mut runs) = (BTreeSet::new(), 0);
            loop {
                runs += 1;
                assert!(runs < 9, "request {number}");
                let run = tickets.backfill_copies().page(1).assume_no_older_programs().run();
                let Ok(report) = block_on(run) else { continue };
                failed.extend(report.failed.into_iter().map(|(key, _)| key));
                if report.retry_after.is_none() {
                    break;
                }
            }
            let count = store.calls().len();
            store.heal();
            assert_eq!(
                Vec::from_iter(failed),
                [ticket(1, None).key_of().unwrap()],
                "request {number} of {count}"
            );
            let record = block_on(tickets.table().schema_record()).unwrap().unwrap();
            assert_eq!(record.pending, [""; 0], "request {number} of {count}");
            if count <= number {
                assert!(number > 10 && runs > 1, "{number} requests in {runs} runs");
                break;
            }
        }
    }
}
