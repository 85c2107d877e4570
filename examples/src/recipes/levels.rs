//! Hierarchical partition keys. The keys with the same first levels form one range of partitions without other rows (HPK-5).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airport_levels::LevelAirport;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "levels",
    question: "Which airports does Washington have, which its cities from S to T, which Seattle, and which one is SEA?",
    schema: LevelAirport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<LevelAirport>();
    let within = || LevelAirport::within("WA");
    let state = airports.query(within());
    let plan = state.plan()?;
    let state = state.collect().await?;
    let cities = airports.query(within().city("S".."T")).collect().await?;
    let city = airports.query(within().city_is("Seattle")).collect().await?;
    let one = airports.get(LevelAirport::key("WA", "Seattle", "SEA")).await?;

    let expected = |wanted: fn(&LevelAirport) -> bool| {
        let mut expected: Vec<LevelAirport> =
            inputs.airports.iter().map(LevelAirport::from).filter(wanted).collect();
        expected.sort_by(|a, b| (&a.city, &a.iata).cmp(&(&b.city, &b.iata)));
        expected
    };
    assert_eq!(state, expected(|airport| airport.state == "WA"));
    assert_eq!(cities, expected(|airport| airport.state == "WA" && airport.city.starts_with('S')));
    assert_eq!(city, expected(|airport| airport.state == "WA" && airport.city == "Seattle"));
    assert_eq!(one.as_deref(), expected(|airport| airport.iata == "SEA").first());

    let mut answer = Grid::new(["City", "Airport", "Name"]);
    for airport in &cities {
        answer.row([&airport.city, &airport.iata, &airport.name]);
    }
    Ok(Report::new(plan, answer)
        .note(format!(
            "The table shows the {} of the cities from S to T: a range over the second level.",
            cities.len()
        ))
        .note(format!(
            "The state has {}, Seattle {}: ranges of partitions. SEA is a point, because all levels are known.",
            state.len(),
            city.len()
        )))
}
