//! Concurrent point reads. They replace a filter that combines row keys with `or` (DQ-7).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airports::Airport;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "parallel-points",
    question: "Where are SEA, GEG and XXX of Washington? (An `or` between row keys would scan the partition.)",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

const CODES: [&str; 3] = ["SEA", "GEG", "XXX"];

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Airport>();
    let found = airports.get_many(CODES.map(|code| Airport::key("USA", "WA", code))).await?;

    let mut answer = Grid::new(["Code", "Name", "City"]);
    for (code, found) in CODES.into_iter().zip(&found) {
        let expected = inputs.airports.iter().find(|airport| airport.iata == code).map(Airport::from);
        assert_eq!(found.as_deref(), expected.as_ref(), "{code}");
        let (name, city) =
            found.as_deref().map_or(("not there", ""), |airport| (&airport.name, &airport.city));
        answer.row([code, name, city]);
    }
    Ok(Report::new("3 point queries at once", answer))
}
