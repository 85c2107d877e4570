//! Client-side joins. A range query for routes is followed by concurrent point reads of their destinations (IMP-6, IMP-5).

use std::collections::BTreeMap;

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::indexed::Airport;
use crate::model::routes::Route;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "client-join",
    question: "Which airports and cities can one fly to from Spokane, if routes contain only codes?",
    schema: Route::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let (routes, airports) = (store.table::<Route>(), store.table::<Airport>());
    let from_spokane = routes.query(Route::rows("WA").origin_is("GEG"));
    let plan = from_spokane.plan()?;
    let legs = from_spokane.collect().await?;
    // Eight lookups run concurrently. Each of them is a point query through the index by code.
    let found = airports.get_many(legs.iter().map(|leg| Airport::by_code(&leg.destination))).await?;

    let known: BTreeMap<&str, _> =
        inputs.airports.iter().map(|airport| (airport.iata.as_str(), airport)).collect();
    let expected = inputs.routes.iter().filter(|route| route.origin == "GEG");
    let expected =
        expected.map(|route| (route, known.get(route.destination.as_str()).map(|it| it.city.as_str())));
    let joined = legs.iter().zip(found.iter().map(|airport| airport.as_deref().map(|it| it.city.as_str())));
    assert!(joined.eq(expected), "each leg with its city, in the order of the legs");

    let mut answer = Grid::new(["To", "Airport", "City", "#Flights"]);
    for (leg, airport) in legs.iter().zip(&found) {
        // A join must handle missing rows. In this case, four airports are missing from the data.
        let (name, city) = airport.as_deref().map_or(("unknown", ""), |it| (&it.name, &it.city));
        let flights = thousands(leg.flights.unsigned_abs().into());
        answer.row([leg.destination.as_str(), name, city, &flights]);
    }
    Ok(Report::new(plan, answer)
        .note(format!(
            "Then {} point queries, as `{}`.",
            legs.len(),
            first_line(&airports.plan(Airport::by_code("SEA"))?)
        ))
        .note("If this is read often, copy the names into the routes: then one request is enough (PAT-DEN)."))
}

fn first_line(plan: &table_core::query::Plan) -> String {
    plan.to_string().lines().next().unwrap_or_default().to_owned()
}
