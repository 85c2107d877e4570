//! Enables features of dependencies. The crate has no code.
//!
//! For each command, cargo enables the features that the selected packages request, and recompiles a dependency if its features differ. Because most
//! commands build this crate too, the tests of a single package can reuse the dependencies compiled for all tests.
