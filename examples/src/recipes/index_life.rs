//! The life of an index. It is added to existing rows, completed by a backfill, and checked for damage by another tool (PAT-INTRA, DQ-1).

use table_core::index::Index;
use table_core::{Entity, Error, ErrorCode, IfMatch, Result, TableEntity, TableStoreExt};
use table_patterns::EntityStore;
use table_patterns::index::{FindingKind, IndexState};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::airport_growth::first;
use crate::model::airport_growth::second::{Airport, AirportByCity};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "index-life",
    question: "Nevada's airports are stored and get an index by city: from when can it be read?",
    schema: Airport::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    // The first version of the program writes its rows.
    store.unmetered().table::<first::Airport>().delete_table().await?; // the table of an earlier run, with its stored schema
    let old = store.table::<first::Airport>().create_if_missing().await?;
    let nevada: Vec<Airport> =
        inputs.airports.iter().filter(|airport| airport.state == "NV").map(Airport::from).collect();
    let as_first = |airport: &Airport| {
        let Airport { state, iata, name, city } = airport.clone();
        first::Airport { state, iata, name, city }
    };
    old.bulk().insert_all(nevada.iter().map(as_first)).await.map_err(|stopped| stopped.source)?;

    // The second version updates the index from its first write, but reads the index only after it is complete.
    let airports = store.entities::<Airport>().create_if_missing().await?;
    let las_vegas = || Airport::by_city("NV", "Las Vegas");
    let mut answer = Grid::new(["Step", "Index", "Airports of Las Vegas"]);
    assert_eq!(airports.states().await?, [("ByCity", IndexState::Building)]);
    let Err(refused) = airports.query(las_vegas()).collect().await else { panic!("it is not whole yet") };
    assert_eq!(refused.code(), ErrorCode::IndexNotReady);
    answer.row(["declared over old rows", "building", refused.code().as_str()]);

    let mut pages = 0;
    let built = airports
        .backfill::<AirportByCity>()
        .assume_no_older_programs()
        .page(20)
        .on_progress(|_| pages += 1)
        .run()
        .await?;
    assert_eq!(usize::try_from(built.repaired).ok(), Some(nevada.len()), "each gets its copy");
    let mut expected: Vec<_> = nevada.iter().filter(|airport| airport.city == "Las Vegas").cloned().collect();
    expected.sort_by(|one, other| one.iata.cmp(&other.iata));
    let found = airports.query(las_vegas()).collect().await?;
    assert_eq!(found, expected);
    answer.row(["backfilled", "ready", &codes(&found)]);

    // Another tool deletes one copy and writes a copy for an airport that does not exist.
    let copy_of = |airport: &Airport| Ok::<_, Error>(AirportByCity::entry(airport)?.map(|copy| copy.key));
    let ghost = Airport { iata: "XXX".to_owned(), ..expected[0].clone() };
    let (Some(lost), Some(stray)) = (copy_of(&expected[0])?, copy_of(&ghost)?) else {
        panic!("each has a city")
    };
    let rows = store.untyped(Airport::SCHEMA.table)?;
    rows.delete(&lost, IfMatch::Any).await?;
    let ghost = TableEntity::from(stray.clone()).with("Name", "Ghost").with("City", "Las Vegas");
    rows.insert(&ghost).await?;
    let broken = airports.check().run().await?; // a dry run, which changes nothing
    let mut kinds: Vec<_> =
        broken.findings.iter().map(|finding| (finding.kind, finding.at.row_key.as_str())).collect();
    kinds.sort_by_key(|(_, at)| *at);
    assert!(kinds.contains(&(FindingKind::Dangling, stray.row_key.as_str())));
    assert!(kinds.contains(&(FindingKind::Missing, lost.row_key.as_str())) && kinds.len() == 2);
    answer.row(["broken by another tool", "ready", &codes(&airports.query(las_vegas()).collect().await?)]);

    let repaired = airports.check().repair().run().await?;
    assert_eq!((repaired.found, repaired.repaired), (2, 2));
    assert!(airports.check().run().await?.is_clean());
    let plan = airports.query(las_vegas()).plan()?;
    let found = airports.query(las_vegas()).collect().await?;
    assert_eq!(found, expected);
    answer.row(["checked and repaired", "ready", &codes(&found)]);
    let findings =
        broken.findings.iter().map(|finding| format!("{:?} at `{}`", finding.kind, finding.at.row_key));
    Ok(Report::new(plan, answer)
        .note(format!(
            "The backfill read {} rows in {pages} pages; after an interruption it continues with the last one.",
            built.scanned
        ))
        .note(format!("The check found: {}.", findings.collect::<Vec<_>>().join(", "))))
}

fn codes(airports: &[Airport]) -> String {
    airports.iter().map(|airport| airport.iata.as_str()).collect::<Vec<_>>().join(" ")
}
