//! Tests of the rows that sweeps find, and of the registry of partitions (PAT-EC-8).

use std::time::Duration;

use pollster::block_on;
use table_core::{ErrorCode, PartitionKey, QueueStore, TableStore, TableStoreExt};
use table_patterns::outbox::{Outbox, REGISTRY};
use table_patterns::work::{Sweep, SweepReport};
use tests::faults::Control;

use crate::outbox::company::{Company, Store, employees};

fn lose_messages(outbox: &Outbox<Store, Store>) {
    block_on(outbox.queues().clear(outbox.queue())).unwrap();
}

fn sweep(company: &Company) -> SweepReport {
    block_on(Sweep::new(company.outbox(&Control::default())).registered()).unwrap()
}

#[test]
fn pat_ec_8_a_sweep_prompts_for_what_is_old_once_a_period() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
    block_on(company.change(&outbox, "2", Some(("bob", 20)))).unwrap();
    lose_messages(&outbox);
    let counts = |report: SweepReport| (report.partitions, report.pending, report.prompted);
    assert_eq!(counts(sweep(&company)), (1, 2, 0)); // too recent: their messages may still arrive
    company.pass(Duration::from_mins(6));
    assert_eq!(counts(sweep(&company)), (1, 2, 2));
    assert_eq!(counts(sweep(&company)), (1, 2, 0)); // not repeatedly
    company.pass(Duration::from_mins(6));
    assert_eq!(counts(sweep(&company)), (1, 2, 2));
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    assert_eq!((company.pending(), company.directory()), (0, company.expected()));
}

#[test]
fn pat_ec_8_a_partition_is_forgotten_when_nobody_can_rely_on_it_and_registered_again_when_it_is_used() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    let worker = company.worker(&Control::default());
    let change = |age| {
        block_on(company.change(&outbox, "1", Some(("ada", age)))).unwrap();
        block_on(worker.run_until_idle()).unwrap();
    };
    change(1);
    company.pass(Duration::from_mins(59));
    change(2); // relies on the entry of an hour ago, and adds none
    company.pass(Duration::from_mins(59));
    assert_eq!(sweep(&company).forgotten, 0);
    company.pass(Duration::from_mins(3));
    assert_eq!(sweep(&company).forgotten, 1);
    assert_eq!(sweep(&company).partitions, 0);

    // The same process: its memory is older than an hour, so it registers again.
    block_on(company.change(&outbox, "1", Some(("ada", 3)))).unwrap();
    lose_messages(&outbox);
    company.recover();
    company.assert_settled();

    // Work that is not done keeps its partition.
    block_on(company.change(&outbox, "1", Some(("ada", 4)))).unwrap();
    company.pass(Duration::from_hours(5));
    let report = sweep(&company);
    assert_eq!((report.pending, report.forgotten), (1, 0));
}

#[test]
fn pat_ec_8_a_table_scan_finds_what_was_never_registered_and_dq_5_is_bounded() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
    lose_messages(&outbox);
    company.forget_partitions();
    company.pass(Duration::from_mins(6));
    assert_eq!(sweep(&company).partitions, 0);

    let scan = Sweep::new(outbox.clone());
    let error = block_on(scan.whole_table(&employees(), 1)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("DQ-5")));
    assert_eq!(block_on(scan.whole_table(&employees(), 100)).unwrap().pending, 1);
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    company.assert_settled();
}

#[test]
fn a_table_that_was_deleted_has_nothing_left_to_do() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
    block_on(company.engine.delete_table(&employees())).unwrap();
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    company.pass(Duration::from_hours(3));
    assert_eq!(sweep(&company).forgotten, 1);
    assert_eq!(block_on(outbox.depth()).unwrap().waiting, 0);
}

#[test]
fn the_registry_is_none_of_the_programs_tables() {
    use futures_util::TryStreamExt;

    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(outbox.register(&employees(), &PartitionKey::new("").unwrap())).unwrap();
    let tables: Vec<_> = block_on(company.engine.tables("").try_collect()).unwrap();
    assert!(tables.iter().all(|table| table.as_str() != REGISTRY));
    assert_eq!(sweep(&company).partitions, 1);
}
