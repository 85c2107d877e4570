//! Tests that the records of each dataset match its data file.

mod airports;
mod earthquakes;
mod routes;
mod weather;
