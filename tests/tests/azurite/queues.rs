//! Runs all scenarios of the queue suite on Azurite.

use std::thread;

use table_azure::AzureQueues;
use tests::suite;

macro_rules! family {
    ($family:ident, [$($scenario:ident,)*]) => {
        mod $family {
            $(#[test]
            fn $scenario() {
                super::store(|store| {
                    // This waits in real time, because the clock of the server cannot be set.
                    pollster::block_on(crate::queues::suite::queues::$family::$scenario(store, &super::thread::sleep));
                });
            })*
        }
    };
}

fn store(scenario: impl FnOnce(&AzureQueues)) {
    if let Some(connection) = crate::azurite() {
        scenario(&AzureQueues::from_connection_string_with(&connection, crate::patient()).unwrap());
    }
}

tests::for_each_queue_scenario!(family);
