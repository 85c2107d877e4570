//! Filters. They reduce the result but not the number of rows read (DQ-14, CLS-4).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather::Day;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "filter",
    question: "On which days of four years did it snow in Seattle, or fall below -5 °C without rain?",
    schema: Day::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let snow_or_frost = Day::WEATHER.eq("snow").or(Day::TEMP_MIN.lt(-5.0).and(!Day::PRECIPITATION.gt(0.0)));
    let days = store.table::<Day>();
    let query = days.query(Day::partition("Seattle")).filter(snow_or_frost);
    let plan = query.plan()?;
    let found = query.collect().await?;

    let expected: Vec<Day> = inputs
        .weather
        .iter()
        .filter(|day| day.location == "Seattle")
        .filter(|day| day.weather == "snow" || (day.temp_min < -5.0 && day.precipitation <= 0.0))
        .map(Day::from)
        .collect();
    assert_eq!(found, expected);
    assert!(!found.is_empty());

    let mut answer = Grid::new(["Date", "Weather", "#Rain mm", "#Min °C"]);
    for day in &found {
        let (rain, min) = (format!("{:.1}", day.precipitation), format!("{:.1}", day.temp_min));
        answer.row([&day.date.to_string(), &day.weather, &rain, &min]);
    }
    Ok(Report::new(plan, answer)
        .note("Every day of the partition was read: the filter reduces the result, not the rows read."))
}
