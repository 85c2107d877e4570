//! Tests of the datasets against their files.

mod airports;
mod earthquakes;
mod routes;
mod weather;
