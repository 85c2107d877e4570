//! Tests transactions that write two entity types to the table of one period.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, Error, TableStore, ticks};

use crate::entities::Entities;
use crate::periods::{Period, PeriodTables, Periodic};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(device)]
#[row_key("at_", at)]
struct Reading {
    device: String,
    at: DateTime<Utc>,
    value: i32,
}

/// A summary of one day's readings: their number and the largest value.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(device)]
#[row_key("day_", day)]
#[index(ByMost, row_key("most_", most, "_", day))]
struct Rollup {
    device: String,
    day: DateTime<Utc>,
    number: i32,
    #[digits(6)]
    most: u32,
}

impl Periodic for Reading {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

impl Periodic for Rollup {
    const PERIOD: Period = Period::Day;

    fn instant(&self) -> DateTime<Utc> {
        self.day
    }
}

type Types = (Entities<Reading, Engine>, Entities<Rollup, Engine>);

/// Records a reading and updates the summary of its day. Runs `before` before the first commit. Returns how often the transaction's closure was called.
async fn record(
    (readings, rollups): &Types,
    reading: &Reading,
    before: impl AsyncFn(),
) -> Result<u32, Error> {
    let (mut runs, day) = (0, Period::Day.start(reading.at));
    let recorded = readings.transaction(Reading::partition("d7"), async |unit| {
        runs += 1;
        unit.use_handle(rollups).insert(reading)?;
        let known = unit.get(Rollup::key("d7", day)).await?;
        if runs == 1 {
            before().await;
        }
        let (number, most) = known.as_ref().map_or((0, 0), |known| (known.number, known.most));
        let most = most.max(reading.value.unsigned_abs());
        unit.save(known.as_ref(), &Rollup { device: "d7".into(), day, number: number + 1, most })?;
        Ok::<_, Error>(())
    });
    recorded.await?;
    Ok(runs)
}

#[test]
fn a_transaction_over_two_types_of_a_period_runs_again_after_a_conflict() {
    let store = Engine::in_memory();
    let (readings, rollups) =
        (PeriodTables::<Reading, _>::new(store.clone()), PeriodTables::<Rollup, _>::new(store.clone()));
    let noon = Period::Day.start(ticks::now()) + TimeDelta::hours(12);
    let reading =
        |seconds, value| Reading { device: "d7".into(), at: noon + TimeDelta::seconds(seconds), value };
    let of_noon = async || -> Result<Types, Error> {
        Ok((readings.entities_of(noon).await?, rollups.entities_of(noon).await?))
    };
    block_on(async {
        let types = of_noon().await?;
        // These handles belong to another process. They do not share turns with the first handles.
        let others = (Entities::from(types.0.table().clone()), types.1.clone());
        let between = async || assert_eq!(record(&others, &reading(1, 30), async || {}).await.unwrap(), 1);
        assert_eq!(record(&types, &reading(0, 20), between).await?, 2);

        let more: Vec<_> = (2..40).map(|second| reading(second, second.try_into().unwrap_or(0))).collect();
        for recorded in join_all(more.iter().map(|reading| record(&types, reading, async || {}))).await {
            recorded?;
        }
        let day = Period::Day.start(noon);
        let rollup = types.1.get(Rollup::key("d7", day)).await?.unwrap();
        assert_eq!((rollup.number, rollup.most), (40, 39));
        assert_eq!(types.0.query(Reading::rows("d7")).collect().await?.len(), 40);
        assert_eq!(types.1.query(Rollup::by_most("d7", 39)).collect().await?.len(), 1);
        assert_eq!(store.list_tables("Readings", None, 10).await?.names.len(), 1);
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn egt_1_names_the_handle_that_a_unit_of_a_period_lacks() {
    let store = Engine::in_memory();
    let (readings, rollups) =
        (PeriodTables::<Reading, _>::new(store.clone()), PeriodTables::<Rollup, _>::new(store));
    let now = ticks::now();
    let rollup = Rollup { device: "d7".into(), day: Period::Day.start(now), number: 1, most: 1 };
    let today = block_on(readings.entities_of(now)).unwrap();
    let of_today = block_on(rollups.entities_of(now)).unwrap();
    let of_yesterday = block_on(rollups.entities_of(now - TimeDelta::days(1))).unwrap();

    let mut unit = today.unit(Reading::partition("d7")).unwrap();
    for other in [None, Some(&of_yesterday)] {
        if let Some(other) = other {
            unit.use_handle(other);
        }
        let error = unit.insert(&rollup).unwrap_err();
        assert_eq!(error.rule(), Some("EGT-1"), "{error}");
        assert!(error.to_string().contains("`unit.use_handle(&others.entities_of(at).await?)`"), "{error}");
        assert!(!error.to_string().contains("declare both"), "{error}");
    }
    unit.use_handle(&of_today).insert(&rollup).unwrap();
    block_on(unit.commit()).unwrap();

    // `with` has the same effect, and takes the unit by value.
    let unit = today.unit(Reading::partition("d7")).unwrap().with(&of_today);
    let mut unit = unit;
    unit.insert(&Rollup { day: now, ..rollup }).unwrap();
    block_on(unit.commit()).unwrap();
}
