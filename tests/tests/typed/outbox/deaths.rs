//! Tests that a writer, a worker or a sweep may die at any of its calls (PAT-EC-3, PAT-EC-8).

use std::time::Duration;

use pollster::block_on;
use table_patterns::work::Sweep;
use tests::faults::{Control, Death};

use crate::outbox::company::Company;

const DEATHS: [Death; 2] = [Death::Before, Death::After];

/// Runs `scene` repeatedly. Each time, the process dies before or after a different call. Other processes then complete the work, and the result is checked.
/// Returns the number of calls.
fn at_every_call(scene: impl Fn(&Company, &Control)) -> usize {
    let control = Control::default();
    scene(&Company::new(), &control);
    for call in 1..=control.calls() {
        for death in DEATHS {
            let company = Company::new();
            let control = Control::dying(call, death);
            scene(&company, &control);
            assert!(control.is_dead(), "call {call} was not made");
            company.recover();
            company.assert_settled();
        }
    }
    control.calls()
}

/// Inserts two employees, changes the e-mail address of one of them, and deletes the other.
fn changes(company: &Company, control: &Control) {
    let outbox = company.outbox(control);
    for (id, to) in
        [("1", Some(("ada", 36))), ("2", Some(("bob", 20))), ("1", Some(("countess", 37))), ("2", None)]
    {
        let _ = block_on(company.change(&outbox, id, to));
    }
}

#[test]
fn pat_ec_8_copies_match_the_entity_after_a_writer_crash_at_any_call() {
    let calls = at_every_call(changes);
    assert!(calls >= 10, "{calls}");
}

#[test]
fn pat_ec_3_after_a_worker_crash_at_any_call_another_repeats_the_work() {
    let calls = at_every_call(|company, control| {
        changes(company, &Control::default());
        let _ = block_on(company.worker(control).run_until_idle());
    });
    assert!(calls >= 15, "{calls}");
}

#[test]
fn pat_ec_8_after_a_sweep_crash_at_any_call_the_next_finds_the_rest() {
    let calls = at_every_call(|company, control| {
        changes(company, &Control::default());
        // Every message is lost.
        let alive = company.outbox(&Control::default());
        block_on(table_core::QueueStore::clear(alive.queues(), alive.queue())).unwrap();
        company.pass(Duration::from_secs(301));
        let _ = block_on(Sweep::new(company.outbox(control)).sweep_registered());
    });
    assert!(calls >= 4, "{calls}");
}
