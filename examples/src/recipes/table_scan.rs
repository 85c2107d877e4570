//! Table scans. The partition is unknown, so a reason and a maximum number of rows are required (DQ-5).

use table_core::{Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::earthquakes::Earthquake;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "table-scan",
    question: "Which earthquakes of any network had magnitude 5.5 or more?",
    schema: Earthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let earthquakes = store.table::<Earthquake>();
    let scan = earthquakes.scan("weekly report of strong earthquakes").max_rows(10_000);
    let scan = scan.filter(Earthquake::MAGNITUDE.ge(5.5));
    let plan = scan.plan()?;
    let found = scan.collect().await?;
    let cut_short = earthquakes.scan("a bound that is too low").max_rows(100).collect().await;

    let mut expected: Vec<Earthquake> =
        inputs.earthquakes.iter().filter(|event| event.magnitude >= 5.5).map(Earthquake::from).collect();
    // The results are ordered by partition and then by row, so within each network the latest event comes first.
    expected.sort_by(|left, right| left.network.cmp(&right.network).then(right.time.cmp(&left.time)));
    assert_eq!(found, expected);
    let Err(refused) = cut_short else { panic!("{} rows are more than 100", inputs.earthquakes.len()) };

    let mut answer = Grid::new(["Network", "Time", "#Magnitude", "Place"]);
    for event in &found {
        answer.row([&event.network, &event.time.to_string(), &event.magnitude.to_string(), &event.place]);
    }
    Ok(Report::new(plan, answer).note(format!("With max_rows(100): {refused}")))
}
