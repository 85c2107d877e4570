//! Materialised views. A view contains sums that would otherwise require a scan. They are updated when rows change, and are read with point queries (IMP-6).

use table_core::{Entity, EntityKey, IfMatch, Result};
use table_patterns::EntityStore;
use table_patterns::view::ViewTable;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::traffic::{AirportTraffic, Traffic, WatchedRoute, counted, trim, watched};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "view",
    question: "How many flights start and land at SEA and PDX, also after one route was removed and another has more?",
    schema: AirportTraffic::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let routes = store.entities::<WatchedRoute>();
    let view = ViewTable::<Traffic, _>::new(store.clone());
    let traffic = view.table().await?;
    let plan = traffic.plan(AirportTraffic::key("SEA"))?;
    let mut input = watched(&inputs.routes);
    let mut answer = Grid::new(["When", "Airport", "#Departures", "#Arrivals", "#Destinations"]);

    let mut show = async |when: &str, input: &[WatchedRoute]| {
        for airport in ["SEA", "PDX"] {
            let found = traffic.get(AirportTraffic::key(airport)).await?;
            let found = found.map(table_core::Versioned::into_value);
            let expected = counted(input, airport);
            assert_eq!(found.as_ref(), Some(&expected), "{when}: as the scan would count it");
            let numbers =
                [expected.departures, expected.arrivals, expected.destinations].map(|n| n.to_string());
            answer.row([when, airport].map(str::to_owned).into_iter().chain(numbers));
        }
        Ok::<_, table_core::Error>(())
    };
    show("built", &input).await?;

    // Writes to routes do not involve the view.
    routes.delete(WatchedRoute::key("WA", "SEA", "PDX"), IfMatch::Any).await?;
    routes.update(WatchedRoute::key("OR", "PDX", "SEA"), |route| route.flights += 1_000).await?;
    let pending = view.freshness().await?.pending;
    assert_eq!(pending, 2);

    let before = store.cost();
    let caught = view.catch_up(100).await?;
    let cost = store.cost() - before;
    assert_eq!((caught.applied, caught.is_behind), (2, false));
    input.retain(|route| (route.origin.as_str(), route.destination.as_str()) != ("SEA", "PDX"));
    for route in &mut input {
        if (route.origin.as_str(), route.destination.as_str()) == ("PDX", "SEA") {
            route.flights += 1_000;
        }
    }
    show("caught up", &input).await?;

    // A change that is delivered twice is counted once.
    view.apply(&EntityKey::new("OR", "PDX_SEA")?).await?;
    show("applied again", &input).await?;

    trim(&routes, &view).await?;
    Ok(Report::new(plan, answer).note(format!(
        "Catching up with {pending} changes: {} requests, {} operations. A read is one request for any number of routes.",
        cost.requests, cost.writes
    )))
}
