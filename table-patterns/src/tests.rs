//! Stores with faults, for the tests of all modules.

pub(crate) mod faults;
