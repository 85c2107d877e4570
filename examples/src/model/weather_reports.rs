//! Daily weather reports, whose changes are recorded in a feed.

use chrono::NaiveDate;
use table_core::Entity;

use crate::data::weather as source;

/// The rain on one day as reported by a station. The station may correct the report later. Example key: (`Seattle`, `20150101`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WeatherReports")]
#[partition_key(location)]
#[row_key(date)]
pub struct RainReport {
    /// The city.
    pub location: String,
    /// The local calendar day.
    pub date: NaiveDate,
    /// The precipitation in millimetres.
    pub precipitation: f64,
}

impl From<&source::DailyWeather> for RainReport {
    fn from(day: &source::DailyWeather) -> Self {
        Self { location: day.location.clone(), date: day.date, precipitation: day.precipitation }
    }
}
