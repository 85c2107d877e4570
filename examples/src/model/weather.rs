//! Weather: a day a row, in the order of the calendar.

use chrono::NaiveDate;
use table_core::Entity;

use crate::data::weather as source;

/// The weather of a day: `Seattle` / `20120101`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Weather")]
#[partition_key(location)]
#[row_key(date)]
pub struct Day {
    /// The city.
    pub location: String,
    /// The local calendar day.
    pub date: NaiveDate,
    /// Millimetres.
    pub precipitation: f64,
    /// Degrees Celsius.
    pub temp_max: f64,
    /// Degrees Celsius.
    pub temp_min: f64,
    /// Metres per second.
    pub wind: f64,
    /// `drizzle`, `fog`, `rain`, `snow` or `sun`.
    pub weather: String,
}

impl From<&source::DailyWeather> for Day {
    fn from(day: &source::DailyWeather) -> Self {
        let source::DailyWeather { location, date, precipitation, temp_max, temp_min, wind, weather } =
            day.clone();
        Self { location, date, precipitation, temp_max, temp_min, wind, weather }
    }
}
