//! Runs all scenarios of the queue suite on `table-server`.

use std::thread;

use table_azure::AzureQueues;
use tests::suite;

macro_rules! family {
    ($family:ident, [$($scenario:ident,)*]) => {
        mod $family {
            $(#[test]
            fn $scenario() {
                let store = super::AzureQueues::from_connection_string(&crate::SERVER).unwrap();
                // This waits in real time, because the engine uses the system clock.
                pollster::block_on(crate::queues::suite::queues::$family::$scenario(&store, &super::thread::sleep));
            })*
        }
    };
}

tests::for_each_queue_scenario!(family);
