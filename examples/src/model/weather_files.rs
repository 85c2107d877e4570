//! The weather of a year as a file. The file is stored in a blob, because it is too large for a frequently read entity.

use std::fmt::Write as _;

use chrono::Datelike;
use table_core::Entity;
use table_patterns::large::{BlobRef, Large};

use crate::data::weather as source;

/// The weather in a city in one year, with the address of a file that contains the days (PAT-LARGE). Example key: (`Seattle`, `2014`).
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
    /// The address of the blob that contains the file.
    #[blob]
    pub file: Option<BlobRef>,
}

/// Returns the content of the file for a year, with one line per day.
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
