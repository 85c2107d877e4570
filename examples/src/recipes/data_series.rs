//! Data series. The values for all days of a month are properties of one entity (PAT-SER).

use chrono::{Datelike, NaiveDate};
use table_core::{Entity, Result, TableStoreExt};
use table_patterns::series::SeriesTable;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather_months::RainMonth;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "data-series",
    question: "How much did it rain in Seattle in the summer of 2014, day by day?",
    schema: RainMonth::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let rain = SeriesTable::new(store.table::<RainMonth>());
    let first = |month| NaiveDate::from_ymd_opt(2014, month, 1).unwrap_or_default();
    let query = rain.query(RainMonth::rows("Seattle").first(first(6)..=first(8)));
    let plan = query.plan()?;
    let months = query.collect().await?;

    let mut answer = Grid::new(["Month", "#Days", "#Wet", "#Millimetres"]);
    let mut days = Vec::new();
    for month in &months {
        let values: Vec<f64> = month.slots().iter().filter_map(|slot| *slot).collect();
        let wet = values.iter().filter(|rain| **rain > 0.0).count();
        let sum: f64 = values.iter().sum();
        let name = month.entity.first.format("%Y-%m").to_string();
        answer.row([name, values.len().to_string(), wet.to_string(), format!("{sum:.1}")]);
        days.extend(values);
    }
    let summer = |date: NaiveDate| date.year() == 2014 && (6..=8).contains(&date.month());
    let of_seattle = inputs.weather.iter().filter(|day| day.location == "Seattle" && summer(day.date));
    assert!(of_seattle.map(|day| day.precipitation).eq(days.iter().copied()), "92 days, from three rows");
    Ok(Report::new(plan, answer).note("One entity per day would be 92 rows."))
}
