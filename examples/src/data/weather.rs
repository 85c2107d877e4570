//! Daily weather of Seattle and New York, 2012 to 2015.

use chrono::NaiveDate;
use serde::Deserialize;

/// The weather of one day in one city.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DailyWeather {
    /// `Seattle` or `New York`.
    pub location: String,
    /// The local calendar day.
    pub date: NaiveDate,
    /// The precipitation in millimetres.
    pub precipitation: f64,
    /// Highest temperature in degrees Celsius.
    pub temp_max: f64,
    /// Lowest temperature in degrees Celsius.
    pub temp_min: f64,
    /// Average wind speed in metres per second.
    pub wind: f64,
    /// The weather, one of `drizzle`, `fog`, `rain`, `snow` and `sun`.
    pub weather: String,
}

/// Returns every day of both cities: Seattle before New York, and the days of each city in order of date. No day is missing.
pub fn load() -> Result<Vec<DailyWeather>, csv::Error> {
    super::parse(include_str!("../../data/weather.csv"))
}
