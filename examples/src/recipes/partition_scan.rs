//! Partition scans, which read all rows in a partition (DQ-4).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airports::Airport;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "partition-scan",
    question: "Which airports does Hawaii have, in the order of their codes?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Airport>();
    let query = airports.query(Airport::partition("USA", "HI"));
    let plan = query.plan()?;
    let found = query.collect().await?;

    let expected: Vec<Airport> =
        inputs.airports.iter().filter(|airport| airport.state == "HI").map(Airport::from).collect();
    assert_eq!(found, expected, "the input is in the order of the codes, and so is a partition (DQ-6)");

    let mut answer = Grid::new(["Code", "Name", "City"]);
    for airport in &found {
        answer.row([&airport.iata, &airport.name, &airport.city]);
    }
    Ok(Report::new(plan, answer))
}
