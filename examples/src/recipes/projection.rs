//! Projections, which return only the required properties (DQ-13).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airports::{Airport, AirportName};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "projection",
    question: "What are the names and cities of the airports of Texas, without anything else?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Airport>();
    let query = airports.query(Airport::partition("USA", "TX")).project::<AirportName>();
    let plan = query.plan()?;
    let found = query.collect().await?;

    let expected: Vec<AirportName> = inputs
        .airports
        .iter()
        .filter(|airport| airport.state == "TX")
        .map(|airport| AirportName { name: airport.name.clone(), city: airport.city.clone() })
        .collect();
    assert_eq!(found, expected);

    let mut answer = Grid::new(["Name", "City"]);
    for airport in &found {
        answer.row([&airport.name, &airport.city]);
    }
    Ok(Report::new(plan, answer))
}
