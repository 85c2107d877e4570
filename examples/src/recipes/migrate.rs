//! Migrates a table from an embedded engine to the store of the cookbook and back. The copy is interrupted, resumed and checked (DQ-12, PAGE-7).

use indicatif::ProgressBar;
use table_core::{Engine, Entity, Result, TableName, TableStore, TableStoreExt};
use table_patterns::migrate::{Checksum, Migration};

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::earthquakes::Earthquake;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

/// The maximum number of rows copied in one step.
const PAGE: usize = 400;
/// The name of the copied table. The store of the cookbook already contains a table with the original name.
const MOVED: &str = "EarthquakesMoved";

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "migrate",
    question: "The earthquakes move from an embedded engine to this store and back, with an interruption. Do all arrive?",
    schema: Earthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let (home, back) = (Engine::in_memory(), Engine::in_memory());
    let earthquakes = home.table::<Earthquake>().create_if_missing().await?;
    let all = inputs.earthquakes.iter().map(Earthquake::from);
    earthquakes.bulk().insert_or_replace_all(all).await.map_err(|stopped| stopped.source)?;
    let (name, moved) = (TableName::new(Earthquake::SCHEMA.table)?, TableName::new(MOVED)?);
    let mut answer = Grid::new(["Step", "#Rows", "Position to store"]);
    let bar = ProgressBar::new(inputs.earthquakes.len() as u64);

    let there = || Migration::new(&home, store, name.clone()).into_table(moved.clone()).page(PAGE);
    let mut copy = there();
    for _ in 0..2 {
        assert!(copy.step().await?, "more than two pages");
        bar.set_position(copy.position().rows());
    }
    let stored = copy.position().to_string();
    answer.row(["stopped", &thousands(copy.position().rows()), &stored]);

    // The copy resumes from the stored text alone. Another process could do the same.
    let mut copy = there().resume(stored.parse()?)?;
    while copy.step().await? {
        bar.set_position(copy.position().rows());
    }
    answer.row(["resumed", &thousands(copy.position().rows()), &copy.position().to_string()]);
    let (source, target) = copy.checksums().await?;

    let mut copy = Migration::new(store, &back, moved.clone()).into_table(name.clone());
    while copy.step().await? {
        bar.set_position(copy.position().rows());
    }
    bar.finish_and_clear();
    answer.row(["moved back", &thousands(copy.position().rows()), &copy.position().to_string()]);
    let returned = Checksum::of(&back, &name).await?;
    store.delete_table(&moved).await?;

    assert_eq!((source, source), (target, returned), "the same rows, but for Timestamps and versions");
    assert_eq!(returned.rows(), inputs.earthquakes.len() as u64);
    Ok(Report::new("", answer).note(format!("The checksum of all three: {returned}.")))
}
