//! The designs: one file a dataset, each a struct whose attributes say how its keys are made.

pub mod airport_growth;
pub mod airport_levels;
pub mod airport_questions;
pub mod airports;
pub mod company;
pub mod company_archive;
pub mod company_badges;
pub mod company_indexed;
pub mod company_versions;
pub mod departures;
pub mod earthquake_days;
pub mod earthquake_heat;
pub mod earthquake_log;
pub mod earthquake_spread;
pub mod earthquakes;
pub mod indexed;
pub mod message_counts;
pub mod packages;
pub mod routes;
pub mod staff;
pub mod weather;
pub mod weather_files;
pub mod weather_months;
pub mod weather_periods;
pub mod weather_reports;
pub mod weather_years;
