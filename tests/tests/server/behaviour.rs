//! Every scenario of the behaviour suite.

use table_azure::AzureTables;
use tests::suite;

macro_rules! family {
    ($family:ident, [$($scenario:ident,)*]) => {
        mod $family {
            $(#[test]
            fn $scenario() {
                let store = super::AzureTables::from_connection_string(&crate::SERVER).unwrap();
                pollster::block_on(crate::behaviour::suite::$family::$scenario(&store));
            })*
        }
    };
}

tests::for_each_scenario!(family);
