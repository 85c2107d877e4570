//! Tests seeded histories of the engine (design promises 8, 10 and 11; CON-1, EGT-9, ENG-8).

use std::sync::Once;

use simulation::fault::{Fault, workspace};
use simulation::sim;

fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(sim::without_words_of_expected_panics);
}

#[test]
fn con_1_con_2_egt_9_histories_of_faults_agree_with_the_model() {
    quietly();
    for seed in 1..42 {
        let report = sim::run(seed);
        assert!(report.wrong.is_none(), "seed {seed}: {:?}\n{}", report.wrong, report.log.join("\n"));
    }
}

#[test]
fn a_seed_determines_its_simulated_history() {
    quietly();
    for seed in 100..106 {
        let (first, second) = (sim::run_in_detail(seed), sim::run_in_detail(seed));
        assert!(first.trace == second.trace, "seed {seed}");
        assert_eq!(first.log, second.log, "seed {seed}");
    }
}

#[test]
fn every_past_fault_can_be_reintroduced() {
    let faults = Fault::all().unwrap();
    assert!(faults.len() >= 25, "{}", faults.len());
    for fault in faults {
        fault.check(&workspace()).unwrap();
        assert!(fault.effect.ends_with('.'), "{}: {}", fault.name, fault.effect);
    }
}
