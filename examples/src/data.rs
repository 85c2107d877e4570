//! Real data for the examples: small public-domain datasets from the United States government.
//!
//! The CSV files are embedded in the binary, so the examples run in any working directory. `examples/data/SOURCES.md`
//! lists the source, the licence and the units of each file.

pub mod airports;
pub mod earthquakes;
pub mod routes;
pub mod weather;

use serde::de::DeserializeOwned;

fn parse<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}
