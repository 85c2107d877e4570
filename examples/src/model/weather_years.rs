//! The rain in a year. It has 366 properties and needs two rows.

use std::collections::BTreeMap;
use std::error::Error;

use chrono::Datelike;
use table_patterns::wide::{Wide, WideStore};

use crate::data::weather as source;
use crate::store::Store;

/// The rain in a city in one year, in millimetres per day (PAT-WIDE). Example keys of the two rows: (`Seattle`, `2012_01`) and (`Seattle`, `2012_02`).
#[derive(Wide, Clone, Debug, PartialEq)]
#[entity(table = "RainByYear")]
#[partition_key(location)]
#[row_key(year)]
pub struct RainYear {
    /// The city.
    pub location: String,
    /// The year.
    #[digits(4)]
    pub year: u16,
    /// The rain on each day. The 366th value is `None` except in leap years.
    #[slots("Day", 1..=366)]
    pub days: Vec<Option<f64>>,
}

/// Returns the rain of all years and all cities.
#[must_use]
pub fn years(weather: &[source::DailyWeather]) -> Vec<RainYear> {
    let mut years: BTreeMap<(String, u16), Vec<Option<f64>>> = BTreeMap::new();
    for day in weather {
        let year = u16::try_from(day.date.year()).unwrap_or_default();
        let days = years.entry((day.location.clone(), year)).or_insert_with(|| vec![None; 366]);
        let place = usize::try_from(day.date.ordinal0()).ok().and_then(|ordinal| days.get_mut(ordinal));
        if let Some(place) = place {
            *place = Some(day.precipitation);
        }
    }
    years.into_iter().map(|((location, year), days)| RainYear { location, year, days }).collect()
}

/// Writes the rain of every year. Each wide entity contains one year in one city.
///
/// # Errors
/// Any error from the store.
pub async fn import(store: &Store, weather: &[source::DailyWeather]) -> Result<(), Box<dyn Error>> {
    let table = store.unmetered().wide::<RainYear>().create_if_missing().await?;
    for year in years(weather) {
        table.insert_or_replace(&year).await?;
    }
    Ok(())
}
