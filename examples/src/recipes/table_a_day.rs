//! One table per day. Reads merge the tables of several days, and expired tables are dropped (PAT-HVD).

use chrono::TimeDelta;
use table_core::{Entity, Error, ErrorCode, Result};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::earthquake_days::{EarthquakeOfDay, tables};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "table-a-day",
    question: "Which earthquakes over magnitude 5 did the network `us` report in the last three days?",
    schema: EarthquakeOfDay::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let days = tables(store.clone(), &inputs.earthquakes);
    let latest = inputs.earthquakes.iter().map(|event| event.time).max();
    let latest = latest.ok_or_else(|| Error::new(ErrorCode::InvalidInput, "the input has no events"))?;
    let from = latest - TimeDelta::days(2);
    let query = days
        .query(EarthquakeOfDay::partition("us"), from, latest)?
        .filter(EarthquakeOfDay::MAGNITUDE.gt(5.0));
    let asked = query.tables().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let found = query.collect().await?;

    let first_day = from.date_naive();
    let strong = |event: &EarthquakeOfDay| {
        event.network == "us" && event.magnitude > 5.0 && event.time.date_naive() >= first_day
    };
    let mut expected: Vec<EarthquakeOfDay> =
        inputs.earthquakes.iter().map(EarthquakeOfDay::from).filter(strong).collect();
    expected.sort_by(|left, right| (left.time, &left.id).cmp(&(right.time, &right.id)));
    assert_eq!(found, expected, "three tables, merged in the order of the keys");
    assert!(days.expire().await?.is_empty(), "the week is kept");

    let mut answer = Grid::new(["Time", "#Magnitude", "Place"]);
    for event in &found {
        answer.row([event.time.to_rfc3339(), event.magnitude.to_string(), event.place.clone()]);
    }
    Ok(Report::new("", answer)
        .note(format!("Tables read: {asked}."))
        .note("An expired day is deleted by one request, whatever the size of its table."))
}
