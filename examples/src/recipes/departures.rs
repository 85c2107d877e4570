//! Reads related lists with one query: an airport with all of its departures (PAT-CK-1).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::departures::{Departure, Origin, OriginWithDepartures, departures};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "departures",
    question: "Which airport is SEA, and where can one fly from there, in one request?",
    schema: Departure::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Origin>();
    let seattle = || Origin::key("WA", "SEA");
    let plan = airports.plan_group::<OriginWithDepartures>(seattle())?;
    let group: OriginWithDepartures = airports.read_group(seattle()).await?;

    assert!(group.origin.name.starts_with("Seattle"));
    let expected: Vec<Departure> =
        departures(&inputs.routes).into_iter().filter(|departure| departure.origin == "SEA").collect();
    assert!(group.departures.values().eq(&expected), "all of them, and nobody else's");

    let mut answer = Grid::new(["Origin", "Destination", "#Flights"]);
    for departure in group.departures.values() {
        answer.row([&*group.origin.name, &departure.destination, &departure.flights.to_string()]);
    }
    Ok(Report::new(plan, answer)
        .note("The range contains the airport's key and all keys that begin with it; its bounds come from the types."))
}
