//! Denormalisation. Routes contain copies of the names of their airports, and an airport is renamed (PAT-DEN).

use table_core::{Entity, IfMatch, Result};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::named_routes::{NamedAirport, NamedRoute, NamedRoutes, named};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

const NEW_NAME: &str = "Henry M. Jackson International";

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "denormalised",
    question: "What are the names of the destinations from SEA, in one request, also after an airport was renamed?",
    schema: NamedRoute::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let handles = NamedRoutes::new(store.clone()).await?;
    let (airports, routes) = (&handles.airports, &handles.routes);
    let from = |origin: &str| routes.table().query(NamedRoute::partition(origin));
    let plan = from("SEA").plan()?;

    // Each row contains both names, so a single request is enough.
    let before = store.cost();
    let found = from("SEA").collect().await?;
    let asked = (store.cost() - before).requests;
    let all = named(&inputs.routes, &inputs.airports);
    let is_of = |route: &&NamedRoute, origin: &str| route.origin == origin;
    let expected: Vec<_> = all.iter().filter(|route| is_of(route, "SEA")).cloned().collect();
    assert_eq!((&found, asked), (&expected, 1));

    // The new name is written only to the airport. The copies in its routes are updated afterwards.
    let before = store.cost();
    let rename = |airport: &mut NamedAirport| NEW_NAME.clone_into(&mut airport.name);
    airports.update(NamedAirport::key("SEA"), rename).await?;
    handles.work().await?;
    let renaming = store.cost() - before;
    let renamed = |route: &NamedRoute| {
        let mut route = route.clone();
        if route.origin == "SEA" {
            route.origin_name = Some(NEW_NAME.to_owned());
        }
        if route.destination == "SEA" {
            route.destination_name = Some(NEW_NAME.to_owned());
        }
        route
    };
    let expected: Vec<_> = all.iter().map(renamed).collect();
    let changed = all.iter().zip(&expected).filter(|(before, after)| before != after).count();
    for origin in ["SEA", "GEG"] {
        let expected: Vec<_> = expected.iter().filter(|route| is_of(route, origin)).cloned().collect();
        assert_eq!(from(origin).collect().await?, expected);
    }

    // An airport cannot be deleted while a route refers to it.
    let refused =
        airports.delete(NamedAirport::key("SEA"), IfMatch::Any).await.err().and_then(|error| error.rule());
    assert_eq!(refused, Some("PAT-DEN-2"));

    let mut answer = Grid::new(["From", "To", "City", "#Flights"]);
    for route in expected.iter().filter(|route| is_of(route, "SEA")) {
        let text = |copy: &Option<String>| copy.clone().unwrap_or_default();
        let [from, to, city] =
            [&route.origin_name, &route.destination_name, &route.destination_city].map(text);
        answer.row([from, to, city, route.flights.to_string()]);
    }
    Ok(Report::new(plan, answer).note(format!(
        "The new name reached {changed} routes, found by their references: {} requests, {} operations.",
        renaming.requests, renaming.writes
    )))
}
