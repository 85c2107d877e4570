//! Tests sweeps and the registry (PAT-EC-8). Sweeps find rows whose messages have been lost. The registry lists the partitions that sweeps read.

use std::time::Duration;

use pollster::block_on;
use table_core::{ErrorCode, PartitionKey, QueueStore, TableStore, TableStoreExt};
use table_patterns::outbox::{Outbox, REGISTRY};
use table_patterns::work::{Sweep, SweepReport, Worker};
use tests::faults::{Control, Death};
use tests::time::Skew;

use crate::outbox::company::{Company, Store, employees};

fn lose_messages(outbox: &Outbox<Store, Store>) {
    block_on(outbox.queues().clear(outbox.queue())).unwrap();
}

fn sweep(company: &Company) -> SweepReport {
    block_on(Sweep::new(company.outbox(&Control::default())).sweep_registered()).unwrap()
}

#[test]
fn pat_ec_8_a_sweep_sends_messages_for_old_rows_each_time_their_age_has_doubled() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
    block_on(company.change(&outbox, "2", Some(("bob", 20)))).unwrap();
    lose_messages(&outbox);
    let counts = |report: SweepReport| (report.partitions, report.pending, report.prompted);
    assert_eq!(counts(sweep(&company)), (1, 2, 0)); // too recent: their messages may still arrive
    company.pass(Duration::from_secs(6 * 60));
    assert_eq!(counts(sweep(&company)), (1, 2, 2));
    assert_eq!(counts(sweep(&company)), (1, 2, 0)); // not repeatedly
    company.pass(Duration::from_secs(6 * 60));
    assert_eq!(counts(sweep(&company)), (1, 2, 2));
    company.pass(Duration::from_secs(6 * 60));
    assert_eq!(counts(sweep(&company)), (1, 2, 0));
    company.pass(Duration::from_secs(6 * 60));
    assert_eq!(counts(sweep(&company)), (1, 2, 2));
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    assert_eq!((company.pending(), company.directory()), (0, company.expected()));
}

/// Tests sweeps that die before or after any of their requests. The next sweep must send the message that the dead sweep has not sent.
#[test]
fn pat_ec_8_a_sweep_that_dies_delays_no_message() {
    for death in [Death::Before, Death::After] {
        for call in 1.. {
            let company = Company::new();
            let outbox = company.outbox(&Control::default());
            block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
            lose_messages(&outbox);
            company.pass(Duration::from_secs(6 * 60));
            let control = Control::dying(call, death);
            let _ = block_on(Sweep::new(company.outbox(&control)).sweep_registered());
            if !control.is_dead() {
                assert!(call > 4, "{call}");
                break;
            }
            sweep(&company);
            block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
            assert_eq!(company.pending(), 0, "{death:?} call {call}");
            assert_eq!(company.directory(), company.expected(), "{death:?} call {call}");
        }
    }
}

/// Tests an outage of all workers. Sweeps must put only a few messages per row into the queue, and must still replace lost messages.
#[test]
fn pat_ec_8_sweeps_do_not_fill_the_queue_while_no_worker_runs() {
    const ROWS: usize = 20;
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    for number in 0..ROWS {
        block_on(company.change(&outbox, &number.to_string(), Some(("ada", 36)))).unwrap();
    }
    for _ in 0..3 * 24 * 12 {
        company.pass(Duration::from_secs(5 * 60));
        sweep(&company);
    }
    let waiting = block_on(outbox.backlog()).unwrap().waiting;
    assert!(waiting <= 12 * ROWS as u64, "{waiting} messages");
    lose_messages(&outbox);
    for _ in 0..24 * 12 {
        company.pass(Duration::from_secs(5 * 60));
        sweep(&company);
    }
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    company.assert_settled();
}

#[test]
fn pat_ec_8_an_idle_partition_is_quiet_until_it_is_used() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    let worker = company.worker(&Control::default());
    let change = |age| {
        block_on(company.change(&outbox, "1", Some(("ada", age)))).unwrap();
        block_on(worker.run_until_idle()).unwrap();
    };
    change(1);
    company.pass(Duration::from_secs(59 * 60));
    change(2); // relies on the hour-old registration, and adds none
    company.pass(Duration::from_secs(59 * 60));
    assert_eq!(sweep(&company).quiet, 0);
    company.pass(Duration::from_secs(3 * 60));
    assert_eq!(sweep(&company).quiet, 1);
    assert_eq!(sweep(&company).quiet, 0);

    block_on(company.change(&outbox, "1", Some(("ada", 3)))).unwrap();
    lose_messages(&outbox);
    company.recover();
    company.assert_settled();

    // A partition with unfinished work remains active.
    block_on(company.change(&outbox, "1", Some(("ada", 4)))).unwrap();
    company.pass(Duration::from_secs(5 * 60 * 60));
    let report = sweep(&company);
    assert_eq!((report.pending, report.quiet), (1, 0));
}

/// Tests writers and sweeps with wrong clocks. The registration of a partition may then be older than the writer assumes, or newer than the sweep assumes.
#[test]
fn pat_ec_8_a_lost_message_is_found_with_any_clocks_of_writers_and_sweeps() {
    for writer in Skew::ALL {
        for sweeper in Skew::ALL {
            let company = Company::new();
            let (outbox, sweep) = (company.outbox_by(writer), Sweep::new(company.outbox_by(sweeper)));
            block_on(company.change(&outbox, "1", Some(("ada", 1)))).unwrap();
            block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
            for _ in 0..40 {
                company.pass(Duration::from_secs(5 * 60));
                block_on(sweep.sweep_registered()).unwrap();
            }
            block_on(company.change(&outbox, "1", Some(("ada", 2)))).unwrap();
            lose_messages(&outbox);
            let mut prompted = 0;
            for minutes in [6, 6, 12, 24] {
                company.pass(Duration::from_secs(minutes * 60));
                let report = block_on(sweep.sweep_registered()).unwrap();
                assert_eq!(report.pending, 1, "written by {writer:?}, swept by {sweeper:?}");
                prompted += report.prompted;
            }
            assert_eq!(prompted, 4, "written by {writer:?}, swept by {sweeper:?}");
            block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
            company.assert_settled();
        }
    }
}

/// Tests a worker with a wrong clock that claims a row and then dies. The message for the row is lost as well.
#[test]
fn pat_ec_8_a_claim_with_a_wrong_clock_delays_no_message() {
    for skew in Skew::ALL {
        let company = Company::new();
        let outbox = company.outbox(&Control::default());
        block_on(company.change(&outbox, "1", Some(("ada", 1)))).unwrap();
        let control = Control::dying(5, Death::Before);
        let store = control.over(company.engine.clone());
        let dying =
            Outbox::with_runtime(store.clone(), store, outbox.queue().clone(), company.runtime_of(skew));
        let _ = block_on(Worker::new(dying).run_until_idle());
        assert!(control.is_dead());
        lose_messages(&outbox);
        for _ in 0..2 {
            company.pass(Duration::from_secs(6 * 60));
            sweep(&company);
        }
        assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 2, "{skew:?}");
        block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
        company.assert_settled();
    }
}

/// Tests that a sweep makes only a limited number of requests for partitions without changes. It must still find a pending row in such a partition eventually.
#[test]
fn pat_ec_8_sweeps_read_few_quiet_partitions_and_find_every_row_eventually() {
    let company = Company::new();
    let outbox = company.outbox_by(Skew::Stopped);
    block_on(company.change(&outbox, "1", Some(("ada", 1)))).unwrap();
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    for number in 0..600 {
        let partition_key = PartitionKey::new(format!("Sales{number}")).unwrap();
        block_on(outbox.register(&employees(), &partition_key)).unwrap();
    }
    company.pass(Duration::from_secs(3 * 60 * 60));
    assert_eq!((sweep(&company).quiet, sweep(&company).partitions), (601, 64));

    block_on(company.change(&outbox, "1", Some(("ada", 2)))).unwrap();
    lose_messages(&outbox);
    let control = Control::default();
    let sweep = Sweep::new(company.outbox(&control));
    let found = (0..200).find(|_| {
        company.pass(Duration::from_secs(6 * 60));
        let calls = control.calls();
        let report = block_on(sweep.sweep_registered()).unwrap();
        assert!(control.calls() - calls <= 75, "{} requests", control.calls() - calls);
        report.prompted > 0
    });
    assert!(found.is_some());
    // The partition becomes active again.
    company.pass(Duration::from_secs(6 * 60));
    assert_eq!(block_on(sweep.sweep_registered()).unwrap().partitions, 65);
    block_on(company.worker(&Control::default()).run_until_idle()).unwrap();
    company.assert_settled();
}

#[test]
fn pat_ec_8_a_table_scan_finds_unregistered_rows_and_dq_5_is_bounded() {
    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(company.change(&outbox, "1", Some(("ada", 36)))).unwrap();
    lose_messages(&outbox);
    company.forget_partitions();
    company.pass(Duration::from_secs(6 * 60));
    assert_eq!(sweep(&company).partitions, 0);

    let scan = Sweep::new(outbox.clone());
    let error = block_on(scan.sweep_table(&employees(), 1)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("DQ-5")));
    assert_eq!(block_on(scan.sweep_table(&employees(), 100)).unwrap().pending, 1);
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
    company.pass(Duration::from_secs(3 * 60 * 60));
    assert_eq!(sweep(&company).quiet, 1);
    assert_eq!(block_on(outbox.backlog()).unwrap().waiting, 0);
}

#[test]
fn the_registry_is_not_one_of_the_programs_tables() {
    use futures_util::TryStreamExt;

    let company = Company::new();
    let outbox = company.outbox(&Control::default());
    block_on(outbox.register(&employees(), &PartitionKey::new("").unwrap())).unwrap();
    let tables: Vec<_> = block_on(company.engine.tables("").try_collect()).unwrap();
    assert!(tables.iter().all(|table| table.as_str() != REGISTRY));
    assert_eq!(sweep(&company).partitions, 1);
}
