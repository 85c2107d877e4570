//! Enables features of dependencies. The crate contains no code.
//!
//! For each command, cargo enables the features that the selected packages request, and recompiles a dependency if its features differ. Most commands
//! build this crate too. The tests of a single package can therefore reuse the dependencies that were compiled for all tests.
