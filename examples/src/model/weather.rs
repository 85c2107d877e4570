//! Daily weather, with one row for each day in calendar order.

use chrono::NaiveDate;
use table_core::Entity;

use crate::data::weather as source;

/// The weather in one city on one day. Example key: (`Seattle`, `20120101`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Weather")]
#[partition_key(location)]
#[row_key(date)]
pub struct Day {
    /// The city.
    pub location: String,
    /// The local calendar day.
    pub date: NaiveDate,
    /// The precipitation in millimetres.
    pub precipitation: f64,
    /// The highest temperature in degrees Celsius.
    pub temp_max: f64,
    /// The lowest temperature in degrees Celsius.
    pub temp_min: f64,
    /// The average wind speed in metres per second.
    pub wind: f64,
    /// The kind of weather: `drizzle`, `fog`, `rain`, `snow` or `sun`.
    pub weather: String,
}

impl From<&source::DailyWeather> for Day {
    fn from(day: &source::DailyWeather) -> Self {
        let source::DailyWeather { location, date, precipitation, temp_max, temp_min, wind, weather } =
            day.clone();
        Self { location, date, precipitation, temp_max, temp_min, wind, weather }
    }
}
