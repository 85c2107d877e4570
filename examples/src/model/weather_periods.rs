//! Daily rain in one table per month. Tables older than a quarter are dropped (PAT-HVD).

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use table_core::Entity;
use table_patterns::periods::{Period, Periodic};

use crate::data::weather as source;

/// The rain on one day, in the table of its month. Example: the key (`Seattle`, `20151231`) in the table `RainOf201512`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "RainOf")]
#[partition_key(location)]
#[row_key(date)]
pub struct RainOfMonth {
    /// The city.
    pub location: String,
    /// The local calendar day.
    pub date: NaiveDate,
    /// The precipitation in millimetres.
    pub precipitation: f64,
}

impl Periodic for RainOfMonth {
    const PERIOD: Period = Period::Month;

    fn instant(&self) -> DateTime<Utc> {
        self.date.and_time(NaiveTime::MIN).and_utc()
    }
}

impl From<&source::DailyWeather> for RainOfMonth {
    fn from(day: &source::DailyWeather) -> Self {
        Self { location: day.location.clone(), date: day.date, precipitation: day.precipitation }
    }
}
