//! High-volume deletes. Entities that expire together are dropped together with their table. Other entities are deleted in batches (PAT-HVD).

use chrono::{Datelike, NaiveDate, NaiveTime};
use table_core::embedded::Clock;
use table_core::{Entity, Error, ErrorCode, Result, Table, TableName, TableStoreExt, ticks};
use table_patterns::periods::{PeriodTables, Periodic, delete_in_batches};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather_periods::RainOfMonth;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "expiry",
    question: "At the end of 2015 only the last quarter's rain is kept: what does it cost to delete the rest?",
    schema: RainOfMonth::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let date = |month, day| NaiveDate::from_ymd_opt(2015, month, day).unwrap_or_default();
    let instant = |date: NaiveDate| date.and_time(NaiveTime::MIN).and_utc();
    let days: Vec<RainOfMonth> =
        inputs.weather.iter().filter(|day| day.date.year() == 2015).map(RainOfMonth::from).collect();
    let old = |day: &&RainOfMonth| day.date < date(10, 1);
    let expected = days.iter().filter(old).count() as u64;

    // The rain of the year is stored twice: in one table per month, and in a single table for all months. The clock is set to the end of the data.
    let now = ticks::from_datetime(instant(date(12, 31))).unwrap_or_default();
    let tables =
        PeriodTables::<RainOfMonth, _>::new(store.clone()).precreate(0).with_clock(Clock::new(move || now));
    let (year, quarter) = (tables.clone().retain(11), tables.retain(2));
    for month in 1..=12 {
        let table = year.table_of(instant(date(month, 1)))?;
        store.create_table_if_missing(table.name()?).await?;
        let of_month = days.iter().filter(|day| day.date.month() == month);
        table.bulk().insert_or_replace_all(of_month).await.map_err(|stopped| stopped.source)?;
    }
    let single: Table<RainOfMonth, _> = Table::new(store.clone(), TableName::new("RainOfYear")?);
    store.create_table_if_missing(single.name()?).await?;
    single.bulk().insert_or_replace_all(&days).await.map_err(|stopped| stopped.source)?;

    let mut answer = Grid::new(["How", "#Rows gone", "#Requests"]);
    let before = store.cost().requests;
    let dropped = quarter.expire().await?;
    let after = store.cost().requests;
    assert_eq!(
        (dropped.len(), after - before),
        (9, 12),
        "a listing, two queries for schemas and feeds, and a request a month, whatever it holds"
    );
    answer.row(["9 tables dropped", &expected.to_string(), &(after - before).to_string()]);

    let mut gone = 0;
    for city in ["New York", "Seattle"] {
        let old = RainOfMonth::rows(city).date(..date(10, 1));
        gone += delete_in_batches(&single, old).run().await.map_err(|stopped| stopped.error)?.deleted;
    }
    let batches = store.cost().requests - after;
    assert_eq!(gone, expected);
    assert!(batches >= 2 * gone.div_ceil(100), "a request to find each hundred, and one to delete it");
    answer.row(["deleted in batches of 100", &gone.to_string(), &batches.to_string()]);

    // The remaining tables can be queried as one. Writes of expired rows are rejected. A late write therefore does not recreate a dropped table.
    let query =
        quarter.query(RainOfMonth::partition("Seattle"), instant(date(10, 1)), instant(date(12, 31)))?;
    let left = query.collect().await?;
    let kept = days.iter().filter(|day| day.location == "Seattle" && day.date >= date(10, 1));
    assert!(left.iter().eq(kept), "three tables, merged");
    assert_eq!(single.query(RainOfMonth::partition("Seattle")).collect().await?, left);
    let Err(late) = quarter.insert(&days[0]).await else { panic!("January has expired") };
    assert_eq!((late.code(), late.rule()), (ErrorCode::OutOfRangeInput, Some("PAT-HVD-4")));
    let millimetres: f64 = left.iter().map(|day| day.precipitation).sum();
    assert!(days[0].instant() < quarter.first());
    Ok::<_, Error>(
        Report::new("", answer)
            .note(format!(
                "The remaining {} days of Seattle, {millimetres:.1} mm, are read from three tables as one.",
                left.len()
            ))
            .note(format!("A late report for 1 January: {late}")),
    )
}
