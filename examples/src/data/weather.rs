//! The daily weather in Seattle and New York from 2012 to 2015.

use chrono::NaiveDate;
use serde::Deserialize;

/// The weather in one city on one day.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DailyWeather {
    /// The city: `Seattle` or `New York`.
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

/// Returns the weather of all days, first in Seattle and then in New York, each in date order. No day is missing.
pub fn load() -> Result<Vec<DailyWeather>, csv::Error> {
    super::parse(include_str!("../../data/weather.csv"))
}
