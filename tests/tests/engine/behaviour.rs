//! Runs all scenarios of the behaviour suite on the backends that do not need a server.

use table_core::TableStore;
use table_core::embedded::Engine;
use tests::ModelStore;

/// Declares a module with the tests of one family of scenarios. `super::store` opens the backend under test.
macro_rules! family {
    ($family:ident, [$($scenario:ident,)*]) => {
        mod $family {
            $(#[test]
            fn $scenario() {
                super::store(|store| pollster::block_on(tests::suite::$family::$scenario(store)));
            })*
        }
    };
}

mod model {
    use super::*;

    fn store(scenario: impl FnOnce(&ModelStore)) {
        scenario(&ModelStore::new());
    }

    tests::for_each_scenario!(family);
}

/// Tests that the boxed adapter forwards every call unchanged.
mod boxed_model {
    use super::*;

    fn store(scenario: impl FnOnce(&table_core::DynTableStore)) {
        let store = table_core::DynTableStore::new(ModelStore::new());
        assert_eq!(store.to_string(), "model");
        assert_eq!(*store.capabilities(), *ModelStore::new().capabilities());
        scenario(&store);
    }

    tests::for_each_scenario!(family);
}

mod engine_in_memory {
    use super::*;

    fn store(scenario: impl FnOnce(&Engine)) {
        scenario(&Engine::in_memory());
    }

    tests::for_each_scenario!(family);
}

mod engine_on_disk {
    use super::*;

    fn store(scenario: impl FnOnce(&Engine)) {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::open(folder.path()).unwrap();
        scenario(&engine);
        pollster::block_on(engine.close()).unwrap();
    }

    tests::for_each_scenario!(family);
}

#[test]
fn eng_21_a_read_that_found_nothing_holds_at_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = Engine::open(folder.path()).unwrap();
    for engine in [Engine::in_memory(), on_disk] {
        pollster::block_on(tests::units::eng_21_a_read_that_found_nothing_holds_at_the_commit_or_is_refused(
            &engine,
        ));
    }
}
