//! The data sets, as they are in their files.

mod airports;
mod earthquakes;
mod routes;
mod weather;
