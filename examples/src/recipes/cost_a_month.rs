//! Estimates the cost of a design before it is deployed. Shows the cost of each query in requests and money, and a test that limits this cost (PAT-ANTI-3).

use std::collections::HashMap;

use table_advice::{Distribution, Draw, Prices, Report as Advice, Step, Workload};
use table_core::row::entity_bytes;
use table_core::{Entity, Error, ErrorCode, Result};

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::airport_questions::AirportQuestions;
use crate::model::indexed::Airport;
use crate::recipe::{Recipe, Report};

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "cost-a-month",
    question: "A timetable asks for 50 airports a second by their code: what does that cost per month, with the index and without?",
    schema: Airport::SCHEMA,
    run: |_, inputs| Box::pin(std::future::ready(run(inputs))),
};

const BY_CODE: &str = "airport by code";
const OF_STATE: &str = "airports of a state";
const CHANGE: &str = "change an airport";

/// Example prices. For a real estimate, use the current prices of your provider in your region.
const PRICES: &str =
    r#"{ "currency": "USD", "per_10k_reads": 0.0004, "per_10k_writes": 0.0005, "per_gib_read": 0.08 }"#;

fn run(inputs: &Inputs) -> Result<Report> {
    let (indexed, scanned) = (dry_run(inputs, true)?, dry_run(inputs, false)?);

    // In an application, these assertions belong in a test.
    indexed.require_max_requests(BY_CODE, 1)?;
    indexed.require_max_requests(OF_STATE, 1)?;
    indexed.require_max_partition_share(0.25)?;
    indexed.require_no_throttling()?;
    let Err(dear) = scanned.require_max_requests(BY_CODE, 1) else {
        panic!("a scan of 3,364 airports is four pages")
    };

    // 50 queries per second are 129.6 million in 30 days. A scan takes four requests, because a request reads at most a thousand rows.
    let (one, four) = (indexed.pattern(BY_CODE)?, scanned.pattern(BY_CODE)?);
    assert_eq!((thousands_a_month(one.per_month(one.reads)), indexed.requests(BY_CODE)?), (129_600, 1));
    assert_eq!((thousands_a_month(four.per_month(four.reads)), scanned.requests(BY_CODE)?), (4 * 129_600, 4));
    let (cheap, expensive) = (indexed.price().unwrap_or_default(), scanned.price().unwrap_or_default());
    assert!(cheap * 100.0 < expensive, "{cheap} {expensive}");

    let prices = Prices::from_json(PRICES)?;
    let mut answer = Grid::new([
        "Design",
        "Question",
        "Class",
        "#A second",
        "#Requests each",
        "#Thousands a month",
        "#USD a month",
    ]);
    for (design, report) in [("with the index", &indexed), ("without it", &scanned)] {
        for pattern in report.patterns() {
            let requests = pattern.reads + pattern.writes;
            answer.row([
                design.to_owned(),
                pattern.name.clone(),
                pattern.class.map_or_else(|| "write".to_owned(), |class| class.to_string()),
                pattern.per_second.to_string(),
                format!("{:.1}", pattern.each(requests)),
                thousands(thousands_a_month(pattern.per_month(requests))),
                format!("{:.2}", pattern.price(&prices)),
            ]);
        }
    }
    Ok(Report::new("", answer)
        .note(format!("Total: {cheap:.2} USD per month with the index, {expensive:.2} without."))
        .note(format!("A test that allows one request rejects the second design: {dear}")))
}

/// Returns a number of requests per month, rounded to thousands.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some millions")]
fn thousands_a_month(requests: f64) -> u64 {
    (requests / 1_000.0).round() as u64
}

/// Simulates two minutes of timetable queries. Each airport is queried in proportion to its number of flights.
fn dry_run(inputs: &Inputs, has_index: bool) -> Result<Advice> {
    let mut flights: HashMap<&str, i32> = HashMap::new();
    for route in &inputs.routes {
        *flights.entry(&route.destination).or_default() += route.flights;
    }
    let mut airports: Vec<Airport> = inputs.airports.iter().map(Airport::from).collect();
    airports.sort_by_key(|airport| {
        std::cmp::Reverse(flights.get(airport.iata.as_str()).copied().unwrap_or_default())
    });
    let (count, mut bytes) = (airports.len() as u64, 0);
    for airport in &airports {
        let (key, row) = (airport.key_of()?, airport.to_row()?);
        bytes += entity_bytes(key.partition_key.as_str(), key.row_key.as_str(), Some(&row)) as u64;
    }
    let each = bytes / count;
    let popular = Distribution::zipf(count, 1.0)?;
    let drawn = move |draw: &mut Draw<'_>| {
        let place = usize::try_from(draw.of(&popular)).unwrap_or_default();
        airports
            .get(place)
            .cloned()
            .ok_or_else(|| Error::new(ErrorCode::InternalError, "drawn beyond the last"))
    };
    let (of_state, changed) = (drawn.clone(), drawn.clone());
    Workload::new("timetable")
        .seconds(120)
        .prices(Prices::from_json(PRICES)?)
        .pattern(BY_CODE, 50.0, move |draw| {
            let airport = drawn(draw)?;
            if has_index {
                return Step::read(&AirportQuestions::by_code(&airport.iata), 1, each);
            }
            Step::read(&Airport::scan("a code, and no index for it"), count, count * each)
        })
        .pattern(OF_STATE, 2.0, move |draw| {
            Step::read(&AirportQuestions::of_state(&of_state(draw)?.state), count / 56, bytes / 56)
        })
        .pattern(CHANGE, 0.1, move |draw| Step::write(&changed(draw)?))
        .run()
}
