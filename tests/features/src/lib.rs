//! Unifies the features of dependencies across cargo commands. The crate contains no code.
//!
//! For each command, cargo enables only the features that the selected packages request, and recompiles each dependency whose features differ from those of an
//! earlier command. Most commands also build this crate, and therefore request the same features. The tests of a single package can then reuse the dependencies
//! compiled for all tests.
