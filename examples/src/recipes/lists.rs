//! Index lists. The airports in a city are stored as a list of keys in the same partition, in another table, or in a blob (PAT-IX).

use table_core::{Entity, EntityKey, Error, ErrorCode, Result, TableStoreExt, Value, Versioned};
use table_patterns::blob::object_store::ObjectStoreExt;
use table_patterns::blob::object_store::path::Path;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::listed::{self, Airport, BEYOND};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "lists",
    question: "Which airports are in Houston, Texas; in any Springfield; in any Greenville; and which one is GWO?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let airports = listed::table(store, listed::outbox(store)?, &inputs.blobs);
    let all = listed::airports(&inputs.airports);
    let of = |is_wanted: &dyn Fn(&Airport) -> bool| {
        all.iter().filter(|airport| is_wanted(airport)).cloned().collect::<Vec<_>>()
    };
    let values =
        |found: Vec<Versioned<Airport>>| found.into_iter().map(Versioned::into_value).collect::<Vec<_>>();

    // Option 2: the list is in the partition of its airports and is always consistent with them.
    let in_houston = || Airport::in_city("USA", "TX", "Houston");
    let houston = values(airports.get_by_index(in_houston()).await?);
    assert_eq!(houston, of(&|airport| airport.state == "TX" && airport.city == "Houston"));

    // Option 3: the list is an entity in another table, for all states. It may be stale, so its entries are verified.
    let springfield = values(airports.get_by_index_eventual(Airport::of_city("Springfield")).await?);
    assert_eq!(springfield, of(&|airport| airport.city == "Springfield"));
    assert!(springfield.len() <= BEYOND);

    // Option 1: this list has outgrown an entity. It is stored in a blob, and the entity contains the name of the blob.
    let greenville = values(airports.get_by_index_eventual(Airport::of_city("Greenville")).await?);
    assert_eq!(greenville, of(&|airport| airport.city == "Greenville"));
    assert!(greenville.len() > BEYOND);
    let content = blob(store, inputs, "Greenville").await?;
    let named: Vec<_> = content.lines().skip(2).collect();
    let line = |airport: &Airport| format!("[\"USA_{}\",\"iata_{}\"]", airport.state, airport.iata);
    assert_eq!(named, greenville.iter().map(line).collect::<Vec<_>>());

    // A code belongs to a single airport, so one request reads the copy under that code.
    let by_code = || Airport::by_code("GWO");
    let found = airports.get_eventual(by_code()).await?;
    let greenwood = of(&|airport| airport.iata == "GWO");
    let code: Vec<_> = found.into_iter().map(table_patterns::index::Eventual::into_possibly_stale).collect();
    assert_eq!(code, greenwood);

    let mut answer = Grid::new(["Found by", "City", "State", "Airport"]);
    let ways = [
        ("list in the partition", &houston),
        ("list in a table", &springfield),
        ("list in a blob", &greenville),
        ("copy under its code", &code),
    ];
    for (way, found) in ways {
        for airport in found {
            answer.row([way, &airport.city, &airport.state, &airport.name]);
        }
    }
    let table = airports.table();
    let plans =
        [table.plan(in_houston())?, table.plan(Airport::of_city("Greenville"))?, table.plan(by_code())?];
    let plans: Vec<_> = plans.iter().map(ToString::to_string).collect();
    let mut report = Report::new(plans.join("\n"), answer.whole())
        .note("The plan of a list covers only the list: a point for each of its keys follows, and a request for its blob, if any.")
        .note(format!("Lists of more than {BEYOND} airports are in blobs. The list of Greenville begins with"));
    for line in content.lines().take(4) {
        report = report.note(format!("  {line}"));
    }
    Ok(report)
}

/// Returns the name of the blob that contains the list of a city.
async fn blob(store: &Store, inputs: &Inputs, city: &str) -> Result<String> {
    let wrong = |what: String| Error::new(ErrorCode::EntityMismatch, what);
    let key = EntityKey::new(city, "airports")?;
    let list = store.unmetered().untyped("AirportCities")?.get(&key).await?;
    let address = list.as_ref().and_then(|list| list.get("AirportDetailsBlob"));
    let Some(Value::String(address)) = address else {
        return Err(wrong(format!("the list of {city} names no blob")));
    };
    let path = Path::from(address.split(' ').next().unwrap_or_default());
    let read = async { inputs.blobs.get(&path).await?.bytes().await };
    let content = read.await.map_err(|error| wrong(error.to_string()))?;
    Ok(String::from_utf8_lossy(&content).into_owned())
}
