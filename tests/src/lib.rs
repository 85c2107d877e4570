//! The behaviour, crash and model tests of the workspace, as a library for the tests of every backend.

pub mod crash;
pub mod fuzz;
#[cfg(feature = "sqlite")]
pub mod sqlite;

#[cfg(feature = "services")]
pub mod ask;
#[cfg(feature = "services")]
pub mod azurite;
#[cfg(feature = "services")]
pub mod command;
#[cfg(feature = "services")]
pub mod compare;
#[cfg(feature = "services")]
pub mod differential;
#[cfg(feature = "services")]
pub mod effort;
#[cfg(feature = "services")]
pub mod employee;
#[cfg(feature = "services")]
pub mod faults;
#[cfg(feature = "services")]
pub mod histories;
#[cfg(feature = "services")]
pub mod model;
#[cfg(feature = "services")]
pub mod npm;
#[cfg(feature = "services")]
pub mod random;
#[cfg(feature = "services")]
pub mod rules;
#[cfg(feature = "services")]
pub mod seconds;
#[cfg(feature = "services")]
pub mod served;
#[cfg(feature = "services")]
pub mod suite;
#[cfg(feature = "services")]
pub mod time;
#[cfg(feature = "services")]
pub mod units;

#[cfg(feature = "services")]
pub use model::ModelStore;

/// The sample program in the README. It is compiled and run with the other examples of this package.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The sample programs in the packages' READMEs.
#[cfg(doctest)]
#[doc = include_str!("../../table-core/README.md")]
#[doc = include_str!("../../table-patterns/README.md")]
#[doc = include_str!("../../table-azure/README.md")]
pub struct PackageReadmes;
