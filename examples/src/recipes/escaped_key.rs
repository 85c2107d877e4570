//! Keys made from arbitrary strings. Invalid characters are escaped, and decoding returns the original string (KEY-3).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airports::CityAirport;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "escaped-key",
    question: "Which airports serve cities whose names contain a slash?",
    schema: CityAirport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let by_city = store.table::<CityAirport>();
    let mut answer = Grid::new(["City", "PartitionKey", "Airports"]);
    let mut cities: Vec<&str> = inputs.airports.iter().map(|airport| airport.city.as_str()).collect();
    cities.retain(|city| city.contains('/'));
    cities.sort_unstable();
    cities.dedup();
    for city in &cities {
        let found = by_city.query(CityAirport::partition(*city)).collect().await?;
        let expected: Vec<CityAirport> =
            inputs.airports.iter().filter(|airport| airport.city == *city).map(CityAirport::from).collect();
        assert_eq!(found, expected);
        let codes: Vec<&str> = found.iter().map(|airport| airport.iata.as_str()).collect();
        let key = found[0].key_of()?;
        answer.row([city, key.partition_key.as_str(), &codes.join(" ")]);
    }
    assert_eq!(answer.len(), cities.len());
    Ok(Report::new(by_city.plan(CityAirport::partition(cities[0]))?, answer))
}
