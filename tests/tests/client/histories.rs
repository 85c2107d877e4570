//! Tests clients of `table-azure` on a lossy network. All results must be possible. The check must detect each faulty client.

use tests::histories::{Mutant, run};

#[test]
fn con_11_all_responses_of_a_history_are_consistent() {
    for seed in 0..400 {
        if let Err(failure) = run(seed, None) {
            panic!("{failure}");
        }
    }
}

/// Tests that a seed always produces the same history. Failures can therefore be reproduced.
#[test]
fn a_seed_determines_its_client_history() {
    for seed in 0..20 {
        assert_eq!(run(seed, None).unwrap(), run(seed, None).unwrap());
    }
    let found = (0..4_000).find_map(|seed| run(seed, Some(Mutant::RefusalStands)).err()).unwrap();
    let again = run(found.seed, Some(Mutant::RefusalStands)).unwrap_err();
    assert_eq!((again.report, again.sent.len()), (found.report, found.sent.len()));
}

#[test]
fn con_11_the_checker_finds_each_faulty_client() {
    let missed: Vec<_> = Mutant::ALL
        .into_iter()
        .filter(|mutant| (0..4_000).all(|seed| run(seed, Some(*mutant)).is_ok()))
        .collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
