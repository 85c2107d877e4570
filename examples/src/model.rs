//! The designs: one file a dataset, each a struct whose attributes say how its keys are made.

pub mod airport_levels;
pub mod airport_questions;
pub mod airports;
pub mod company;
pub mod company_versions;
pub mod departures;
pub mod earthquake_days;
pub mod earthquake_heat;
pub mod earthquake_log;
pub mod earthquakes;
pub mod indexed;
pub mod named_routes;
pub mod packages;
pub mod routes;
pub mod staff;
pub mod traffic;
pub mod weather;
pub mod weather_months;
pub mod weather_years;
