//! A log in eight partitions. An append writes to one of them. A read queries all of them and merges the results (PAT-ANTI-1, PAT-LOG-5).

use table_advice::spread::{Heat, PARTITION_TARGET};
use table_core::{Entity, Result, TableStoreExt, Versioned};
use table_patterns::log_tail::LogTail;

use crate::grid::{Grid, thousands};
use crate::inputs::Inputs;
use crate::model::earthquake_spread::{SpreadEarthquake, log};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "spread-log",
    question: "One log of all networks without a hot partition: what are its ten latest earthquakes?",
    schema: SpreadEarthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let events = LogTail::new(store.table::<SpreadEarthquake>());
    let plan = events.table().plan(SpreadEarthquake::all_partitions())?;
    let newest = events.newest(SpreadEarthquake::all_partitions(), 10).await?;

    let expected = log(&inputs.earthquakes)?;
    let found: Vec<SpreadEarthquake> = newest.into_iter().map(Versioned::into_value).collect();
    assert_eq!(found, expected[..10], "eight partitions, merged by their stamps");

    // The same writes are made under both keys. `Heat` finds the largest share of any 100 consecutive writes that goes to one partition.
    let (mut spread, mut by_day) = (Heat::of_runs(100), Heat::of_runs(100));
    for event in expected.iter().rev() {
        spread.write(event)?;
        by_day.write_to(&event.stamp.instant().format("%Y%m%d").to_string());
    }
    assert_eq!(spread.partitions(), 8);
    assert!(spread.peak().share < 0.35 && by_day.peak().share > 0.99);

    let mut answer = Grid::new(["PartitionKey", "Time", "#Magnitude", "Place"]);
    for event in &found {
        let (key, at) = (event.key_of()?, event.stamp.instant().to_rfc3339());
        answer.row([key.partition_key.as_str(), &at, &event.magnitude.to_string(), &event.place]);
    }
    let describe = |heat: &Heat| {
        let (share, rate) = (heat.peak().share * 100.0, heat.writes_per_second(PARTITION_TARGET));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
        let rate = thousands(rate as u64);
        format!("at most {share:.0} % of 100 writes in a row in one partition: {rate} writes a second fit")
    };
    Ok(Report::new(plan, answer)
        .note(format!("Spread over 8: {}.", describe(&spread)))
        .note(format!("With the day as PartitionKey: {}.", describe(&by_day))))
}
