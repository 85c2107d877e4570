//! A wide entity: a year of days is more properties than a row holds (PAT-WIDE).

use table_core::error::Result;
use table_core::{Entity, TableStoreExt};
use table_patterns::wide::WideTable;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather_years::{CityYear, RainYear, years};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "wide-year",
    question: "The rain of every day of 2012 in both cities: 366 values each, in one request each?",
    schema: CityYear::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let rain = WideTable::<RainYear, _>::new(store.table::<CityYear>());
    let expected = years(&inputs.weather);
    let mut answer = Grid::new(["City", "#Days", "#Wet", "#Millimetres"]);
    for city in ["New York", "Seattle"] {
        let found = rain.get(CityYear::key(city, 2012)).await?.map(|(year, _)| year);
        let Some(year) = found else { panic!("2012 of {city} was imported") };
        assert!(expected.contains(&year), "both parts, in order");
        let days: Vec<f64> = year.days.iter().filter_map(|day| *day).collect();
        let wet = days.iter().filter(|rain| **rain > 0.0).count();
        let sum: f64 = days.iter().sum();
        answer.row([city.to_owned(), days.len().to_string(), wet.to_string(), format!("{sum:.1}")]);
    }
    Ok(Report::new("", answer)
        .note("Two rows a year: 183 days and a WriteId in each. A reader accepts them only if both are of one write."))
}
