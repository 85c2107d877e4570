//! Rain by year: 366 properties, and so two rows.

use std::collections::BTreeMap;
use std::error::Error;

use chrono::Datelike;
use table_core::error::Result;
use table_core::{Entity, TableStoreExt};
use table_patterns::slot_names;
use table_patterns::wide::{Wide, WideReader, WideTable, WideWriter};

use crate::data::weather as source;
use crate::store::Store;

/// What the two rows of a year are named by (PAT-WIDE): `Seattle` / `2012_01` and `2012_02`.
#[derive(Entity, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[entity(table = "RainByYear")]
#[partition_key(location)]
#[row_key(year)]
pub struct CityYear {
    /// The city.
    pub location: String,
    /// The year.
    #[digits(4)]
    pub year: u16,
}

/// The rain of a year, in millimetres a day.
#[derive(Clone, Debug, PartialEq)]
pub struct RainYear {
    /// Where and when.
    pub of: CityYear,
    /// 366 days; the last of most years has none.
    pub days: Vec<Option<f64>>,
}

impl Wide for RainYear {
    type Header = CityYear;
    const PARTS: &'static [&'static [&'static str]] =
        &[slot_names!("Day", 1, 183), slot_names!("Day", 184, 183)];

    fn header(&self) -> CityYear {
        self.of.clone()
    }

    fn write(&self, out: &mut WideWriter) -> Result<()> {
        Self::names().zip(&self.days).try_for_each(|(name, rain)| out.set(name, rain))
    }

    fn read(of: CityYear, properties: &WideReader<'_>) -> Result<Self> {
        Ok(Self { of, days: Self::names().map(|name| properties.get(name)).collect::<Result<_>>()? })
    }
}

/// Every year of every city.
#[must_use]
pub fn years(weather: &[source::DailyWeather]) -> Vec<RainYear> {
    let mut years: BTreeMap<CityYear, Vec<Option<f64>>> = BTreeMap::new();
    for day in weather {
        let year = u16::try_from(day.date.year()).unwrap_or_default();
        let days =
            years.entry(CityYear { location: day.location.clone(), year }).or_insert_with(|| vec![None; 366]);
        let place = usize::try_from(day.date.ordinal0()).ok().and_then(|ordinal| days.get_mut(ordinal));
        if let Some(place) = place {
            *place = Some(day.precipitation);
        }
    }
    years.into_iter().map(|(of, days)| RainYear { of, days }).collect()
}

/// Writes the rain of every year.
///
/// # Errors
/// Those of the store.
pub async fn import(store: &Store, weather: &[source::DailyWeather]) -> Result<(), Box<dyn Error>> {
    let table = WideTable::new(store.unmetered().table::<CityYear>().create_if_missing().await?);
    for year in years(weather) {
        table.insert_or_replace(&year).await?;
    }
    Ok(())
}
