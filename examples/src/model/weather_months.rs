//! The rain in a month, with one slot for each day.

use std::collections::BTreeMap;
use std::error::Error;

use chrono::{Datelike, NaiveDate};
use table_core::{Entity, TableStoreExt};
use table_patterns::series::{self, Series, SeriesRow, SeriesTable};

use crate::data::weather as source;
use crate::store::Store;

/// The rain in a city in one month, in millimetres per day (PAT-SER). The properties are `Day01` to `Day31`. Example key: (`Seattle`, `20120101`).
#[derive(Entity, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[entity(table = "RainByMonth")]
#[partition_key(location)]
#[row_key(first)]
pub struct RainMonth {
    /// The city.
    pub location: String,
    /// The first day of the month.
    pub first: NaiveDate,
}

impl Series for RainMonth {
    type Value = f64;
    const SLOTS: &'static [&'static str] = series::DAYS_OF_MONTH;
}

impl From<&source::DailyWeather> for RainMonth {
    fn from(day: &source::DailyWeather) -> Self {
        Self { location: day.location.clone(), first: day.date.with_day(1).unwrap_or(day.date) }
    }
}

/// Writes the rain of every month. Each row contains one month in one city.
///
/// # Errors
/// Any error from the store.
pub async fn import(store: &Store, weather: &[source::DailyWeather]) -> Result<(), Box<dyn Error>> {
    let mut months: BTreeMap<RainMonth, SeriesRow<RainMonth>> = BTreeMap::new();
    for day in weather {
        let month = months.entry(day.into()).or_insert_with_key(|month| SeriesRow::new(month.clone()));
        *month.slot_mut(usize::try_from(day.date.day0())?)? = Some(day.precipitation);
    }
    let table = SeriesTable::new(store.unmetered().table::<RainMonth>().create_if_missing().await?);
    for month in months.values() {
        table.insert_or_replace(month).await?;
    }
    Ok(())
}
