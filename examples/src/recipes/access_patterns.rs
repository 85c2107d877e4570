//! Access patterns: all queries of an application, each with its maximum cost class and its plan.

use table_core::query::Plan;
use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airport_questions::AirportQuestions;
use crate::model::indexed::{Airport, CityAirport};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "access-patterns",
    question: "Which queries does the application have, what may each cost, and which cities of Texas begin with San?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = store.table::<Airport>();
    let query = airports.query(AirportQuestions::cities("TX", "San ")).project::<CityAirport>();
    let plan = query.plan()?;
    let found = query.collect().await?;

    let wanted =
        |airport: &&crate::data::airports::Airport| airport.state == "TX" && airport.city.starts_with("San ");
    let mut expected: Vec<_> = inputs.airports.iter().filter(wanted).collect();
    expected.sort_by_key(|airport| (&airport.city, &airport.iata));
    assert!(!expected.is_empty());
    assert!(found.iter().map(|airport| &airport.name).eq(expected.iter().map(|airport| &airport.name)));

    // The list is available as data. Here, it is printed as a table with the plan and the maximum cost class of each query.
    let plans = [
        airports.plan(AirportQuestions::airport("WA", "SEA"))?,
        airports.plan(AirportQuestions::by_code("SEA"))?,
        airports.plan(AirportQuestions::of_city("TX", "Houston"))?,
        airports.plan(AirportQuestions::cities("TX", "San "))?,
        airports.plan(AirportQuestions::of_state("WA"))?,
        airports.plan(AirportQuestions::map())?,
    ];
    assert_eq!(plans.len(), AirportQuestions::PATTERNS.len());
    let mut answer = Grid::new(["Question", "Asks with", "At most", "Index", "Asks for"]);
    for (pattern, plan) in AirportQuestions::PATTERNS.iter().zip(&plans) {
        assert!(plan.class <= pattern.ceiling && plan.index.as_deref() == pattern.index);
        answer.row([
            pattern.doc.to_owned(),
            pattern.arguments.join(", "),
            pattern.ceiling.to_string(),
            pattern.index.unwrap_or_default().to_owned(),
            asked(plan),
        ]);
    }
    let cities: Vec<_> = found.iter().map(|airport| airport.city.as_str()).collect();
    Ok(Report::new(plan, answer).note(format!("One of these queries ran and found: {}.", cities.join(", "))))
}

fn asked(plan: &Plan) -> String {
    let filters = plan.lookups.iter().map(|lookup| lookup.filter.as_deref().unwrap_or("everything"));
    filters.collect::<Vec<_>>().join("; ")
}
