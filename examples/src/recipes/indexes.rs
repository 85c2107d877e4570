//! Indexes. A lookup that the primary key does not support reads copies under different keys (PAT-INTRA, PAT-INTER).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::indexed::{Airport, CityAirport};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "indexes",
    question: "Which airport has the code SEA, and which ones have Houston or a city in San …?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Airport>();
    let of_texas = |is_wanted: fn(&str) -> bool| {
        let wanted =
            inputs.airports.iter().filter(|airport| airport.state == "TX" && is_wanted(&airport.city));
        let mut wanted: Vec<_> = wanted.collect();
        wanted.sort_by_key(|airport| (&airport.city, &airport.iata));
        let shown = |airport: &crate::data::airports::Airport| CityAirport {
            city: airport.city.clone(),
            name: airport.name.clone(),
        };
        wanted.into_iter().map(shown).collect::<Vec<_>>()
    };

    // This is a point lookup. For each code, a separate partition contains a complete copy of the airport.
    let by_code = Airport::by_code("SEA");
    let seattle = airports.get(by_code.clone()).await?.map(table_core::Versioned::into_value);
    let expected = inputs.airports.iter().find(|airport| airport.iata == "SEA").map(Airport::from);
    assert_eq!(seattle, expected);

    // This range query reads the copies with one value. The copies include the name.
    let houston = airports.query(Airport::by_city("USA", "TX", "Houston")).project::<CityAirport>();
    let plan = houston.plan()?;
    let houston = houston.collect().await?;
    assert_eq!(houston, of_texas(|city| city == "Houston"));

    // This range query covers several values.
    let saints = airports.query(Airport::by_city_rows("USA", "TX").city_prefix("San "));
    let saints = saints.project::<CityAirport>().collect().await?;
    assert_eq!(saints, of_texas(|city| city.starts_with("San ")));

    let mut answer = Grid::new(["Index", "City", "Airport"]);
    if let Some(airport) = &seattle {
        answer.row(["ByCode", &airport.city, &airport.name]);
    }
    for airport in houston.iter().chain(&saints) {
        answer.row(["ByCity", &airport.city, &airport.name]);
    }
    Ok(Report::new(format!("{}\n{plan}", airports.plan(by_code)?), answer).note(
        "The copies of ByCity include only the name: their key contains the city, the state and the code.",
    ))
}
