//! Compound keys. All rows with the same first key part form one range (PAT-CK).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::routes::Route;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "compound-key",
    question: "Where could one fly from Seattle-Tacoma in 2008, and how often to Los Angeles?",
    schema: Route::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let routes = store.table::<Route>();
    let query = routes.query(Route::rows("WA").origin_is("SEA"));
    let plan = query.plan()?;
    let found = query.collect().await?;
    let to_los_angeles = routes.get(Route::key("WA", "SEA", "LAX")).await?;

    let expected: Vec<Route> = inputs.routes.iter().filter(|route| route.origin == "SEA").cloned().collect();
    assert_eq!(found, expected);
    let one = expected.iter().find(|route| route.destination == "LAX");
    assert_eq!(to_los_angeles.as_deref(), one);

    let mut answer = Grid::new(["From", "To", "#Flights"]);
    for route in &found {
        answer.row([
            route.origin.clone(),
            route.destination.clone(),
            thousands(route.flights.unsigned_abs().into()),
        ]);
    }
    let flights = one.map_or(0, |route| route.flights);
    Ok(Report::new(plan, answer)
        .note(format!("To Los Angeles {flights} times: a point, because all parts are known.")))
}
