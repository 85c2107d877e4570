//! Runs all scenarios of the behaviour suite on Azurite.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use table_azure::AzureTables;
use tests::suite;

use crate::deviations::{DEVIATIONS, Fails};

macro_rules! family {
    ($family:ident, [$($scenario:ident,)*]) => {
        mod $family {
            $(#[test]
            fn $scenario() {
                let name = concat!(stringify!($family), "::", stringify!($scenario));
                super::store(name, |store| pollster::block_on(crate::behaviour::suite::$family::$scenario(store)));
            })*
        }
    };
}

/// Runs a scenario on Azurite. If the scenario is in the list of known deviations, it must fail. This keeps the list up to date.
fn store(name: &str, scenario: impl FnOnce(&AzureTables)) {
    let Some(connection) = crate::azurite() else { return };
    let store = AzureTables::from_connection_string_with(&connection, crate::patient()).unwrap();
    let Some((_, fails, rules, why)) = DEVIATIONS.iter().find(|(scenario, ..)| *scenario == name) else {
        return scenario(&store);
    };
    drop(writeln!(io::stderr(), "SKIPPED on Azurite: {name} ({rules}: {why})"));
    if *fails == Fails::Always {
        let failed = catch_unwind(AssertUnwindSafe(|| scenario(&store))).is_err();
        assert!(failed, "{name} holds on Azurite: strike it from the deviations");
    }
}

/// Tests that every deviation in the list refers to an existing scenario.
#[test]
fn deviations_name_scenarios() {
    let mut names = Vec::new();
    macro_rules! collect {
        ($family:ident, [$($scenario:ident,)*]) => {
            $(names.push(concat!(stringify!($family), "::", stringify!($scenario)));)*
        };
    }
    tests::for_each_scenario!(collect);
    for (name, ..) in DEVIATIONS {
        assert!(names.contains(name), "{name}");
    }
}

tests::for_each_scenario!(family);

#[test]
fn eng_21_a_read_that_found_nothing_is_refused_by_the_protocol() {
    store("", |store| {
        pollster::block_on(tests::units::eng_21_a_read_that_found_nothing_holds_at_the_commit_or_is_refused(
            store,
        ));
    });
}
