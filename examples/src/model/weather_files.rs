//! A year of weather as a file. The file is in a blob, because it is too large for an entity that is often read.

use std::fmt::Write as _;

use chrono::Datelike;
use table_core::Entity;
use table_patterns::large::{BlobRef, Large};

use crate::data::weather as source;

/// One year of weather in a city, with the address of a file that contains its days (PAT-LARGE). Example key: (`Seattle`, `2014`).
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "WeatherFiles")]
#[partition_key(location)]
#[row_key(year)]
pub struct WeatherFile {
    /// The city.
    pub location: String,
    /// The year.
    #[digits(4)]
    pub year: u16,
    /// The number of days in the file.
    pub days: i32,
    /// The address of the file's blob.
    #[blob]
    pub file: Option<BlobRef>,
}

/// Returns the content of a year's file, with one line per day.
#[must_use]
pub fn csv(weather: &[source::DailyWeather], location: &str, year: i32) -> String {
    let mut text = "date,precipitation,temp_max,temp_min,wind,weather\n".to_owned();
    for day in weather.iter().filter(|day| day.location == location && day.date.year() == year) {
        let source::DailyWeather { date, precipitation, temp_max, temp_min, wind, weather, .. } = day;
        // Writing to a `String` never fails.
        let _ = writeln!(text, "{date},{precipitation},{temp_max},{temp_min},{wind},{weather}");
    }
    text
}
