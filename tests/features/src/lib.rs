//! Enables features of dependencies. The crate contains no code.
//!
//! For each command, cargo enables the features requested by the selected packages, and recompiles a dependency if its features differ. Most commands build
//! this crate too. The tests of a single package can therefore reuse the dependencies compiled for all tests.
