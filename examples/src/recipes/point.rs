//! Point queries, for which both keys are known (DQ-2).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airports::Airport;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "point",
    question: "Which airport in Washington has the code SEA?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Airport>();
    let key = Airport::key("USA", "WA", "SEA");
    let found = airports.get(key.clone()).await?;
    let missing = airports.get(Airport::key("USA", "OR", "SEA")).await?;

    let expected = inputs.airports.iter().find(|airport| airport.iata == "SEA").map(Airport::from);
    assert_eq!(found.as_deref(), expected.as_ref());
    assert_eq!(missing, None, "Oregon has no SEA");

    let mut answer = Grid::new(["Code", "Name", "City", "#Latitude", "#Longitude", "ETag"]);
    if let Some(airport) = &found {
        let (latitude, longitude) = (airport.latitude.to_string(), airport.longitude.to_string());
        answer.row([
            &airport.iata,
            &airport.name,
            &airport.city,
            &latitude,
            &longitude,
            &airport.etag().to_string(),
        ]);
    }
    Ok(Report::new(airports.plan(key)?, answer)
        .note("A get of SEA in Oregon returned nothing, without an error."))
}
