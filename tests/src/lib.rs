//! Behaviour, crash and model tests of the workspace, as a library that every backend is run against.

pub mod ask;
pub mod azurite;
pub mod beside;
pub mod compare;
pub mod crash;
pub mod differential;
pub mod effort;
pub mod employee;
pub mod faults;
#[cfg(feature = "fuzzing")]
pub mod fuzz;
pub mod histories;
pub mod model;
pub mod npm;
pub mod power;
pub mod random;
pub mod rules;
pub mod seconds;
pub mod served;
pub mod sim;
pub mod suite;
pub mod time;

pub use model::ModelStore;

/// The README's program, compiled and run with the other examples of this package.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
