//! Enables features of dependencies. The crate has no code.
//!
//! Cargo enables the features that the packages named in a command request, and recompiles a dependency if they differ. Because most commands build
//! this crate, the tests of a single package can reuse the dependencies compiled for all tests.
