//! Histories of the engine that are determined by a seed (design promises 8, 10 and 11; CON-1, EGT-9, ENG-8).

use std::sync::Once;

#[cfg(feature = "mutations")]
use table_core::embedded::mend::Mend;
use tests::sim;

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
fn one_seed_has_one_history() {
    quietly();
    for seed in 100..106 {
        let (first, second) = (sim::run_in_detail(seed), sim::run_in_detail(seed));
        assert!(first.trace == second.trace, "seed {seed}");
        assert_eq!(first.log, second.log, "seed {seed}");
    }
}

/// A test of the test: if the fix of a past fault is disabled, some history finds the fault again.
#[cfg(feature = "mutations")]
#[test]
#[ignore = "minutes without optimisation: `simulate --mends` does the same in seconds"]
fn every_past_fault_is_found_again_when_its_mend_is_taken_out() {
    const SEEDS: u64 = 1_000;
    quietly();
    let find = |mend| (1..=SEEDS).find(|seed| sim::run_without(mend, *seed).wrong.is_some());
    let missed: Vec<_> = Mend::ALL.into_iter().filter(|mend| find(*mend).is_none()).collect();
    assert!(missed.is_empty(), "{SEEDS} histories do not find {missed:?}");
}
