//! Log tails. The newest events are read first, regardless of the length of the log (PAT-LOG).

use table_core::{Entity, Result, TableStoreExt, Versioned};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::earthquakes::Earthquake;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "log-tail",
    question: "What are the ten latest earthquakes that the network `us` reported?",
    schema: Earthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let earthquakes = store.table::<Earthquake>();
    let query = earthquakes.query(Earthquake::partition("us")).page_size(10);
    let plan = query.plan()?;
    let page = query.page().await?;
    let found: Vec<Earthquake> = page.items.into_iter().map(Versioned::into_value).collect();

    let of_us = inputs.earthquakes.iter().filter(|event| event.network == "us");
    let expected: Vec<Earthquake> = of_us.take(10).map(Earthquake::from).collect();
    assert_eq!(found, expected, "the input has the latest first, and the times come back to the millisecond");
    assert!(page.continuation.is_some(), "the log has more pages");

    let mut answer = Grid::new(["RowKey", "Time", "#Magnitude", "Place"]);
    for event in &found {
        let (row_key, time) = (event.key_of()?.row_key, event.time.to_rfc3339());
        answer.row([row_key.as_str(), &time, &event.magnitude.to_string(), &event.place]);
    }
    Ok(Report::new(plan, answer))
}
