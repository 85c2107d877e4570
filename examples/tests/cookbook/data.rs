//! Tests the datasets: the loaded records must match their data files.

mod airports;
mod earthquakes;
mod routes;
mod weather;
