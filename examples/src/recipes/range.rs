//! Range queries, which read a range of rows in one partition (DQ-3).

use chrono::NaiveDate;
use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather::Day;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "range",
    question: "How was the weather in New York in the first week of July 2014?",
    schema: Day::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let july = |day| NaiveDate::from_ymd_opt(2014, 7, day).unwrap_or_default();
    let days = store.table::<Day>();
    let query = days.query(Day::rows("New York").date(july(1)..=july(7)));
    let plan = query.plan()?;
    let found = query.collect().await?;

    let expected: Vec<Day> = inputs
        .weather
        .iter()
        .filter(|day| day.location == "New York" && (july(1)..=july(7)).contains(&day.date))
        .map(Day::from)
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 7);

    let mut answer = Grid::new(["Date", "Weather", "#Rain mm", "#Max °C", "#Min °C"]);
    for day in &found {
        let numbers = [day.precipitation, day.temp_max, day.temp_min].map(|number| format!("{number:.1}"));
        let [rain, max, min] = numbers;
        answer.row([day.date.to_string(), day.weather.clone(), rain, max, min]);
    }
    Ok(Report::new(plan, answer))
}
