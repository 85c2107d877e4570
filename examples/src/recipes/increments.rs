//! Slots with concurrent writers. Every increment is counted (PAT-SER-2, PAT-SER-3).

use std::time::Duration;

use chrono::NaiveDate;
use futures_util::future::try_join_all;
use table_core::{Entity, IfMatch, Result, TableStoreExt};
use table_patterns::retry::Retry;
use table_patterns::series::SeriesTable;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::message_counts::MessageDay;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "increments",
    question: "Four servers count the messages of employee 123 on one day, hour by hour: is each one counted?",
    schema: MessageDay::SCHEMA,
    run: |store, _| Box::pin(run(store)),
};

async fn run(store: &Store) -> Result<Report> {
    store.unmetered().table::<MessageDay>().create_if_missing().await?;
    let table = store.table::<MessageDay>();
    let day = MessageDay { employee: 123, date: NaiveDate::from_ymd_opt(2014, 4, 23).unwrap_or_default() };
    let key = || MessageDay::key(123, day.date);
    match table.delete(key(), IfMatch::Any).await {
        Err(error) if error.is_not_found() => {}
        of_earlier => of_earlier?,
    }
    let counts = SeriesTable::new(table);
    counts.set(&day, 8, 3).await?; // writes one slot with a merge, which leaves the other 23 unchanged

    // Four writers run concurrently. A writer that loses a race reads the row again and retries. The number of retries varies between runs, so the meter does
    // not count these requests.
    let patient = Retry::new(10_000, Duration::from_millis(1), Duration::from_millis(20));
    let server = || SeriesTable::new(store.unmetered().table::<MessageDay>()).with_retry(patient.clone());
    let (servers, day) = ([server(), server(), server(), server()], &day);
    try_join_all(servers.iter().map(async |server| {
        for _ in 0..5 {
            server.increment(day, 9, 1).await?;
            server.increment_all(day, &[(8, 1), (10, 2)]).await?;
        }
        Ok::<_, table_core::Error>(())
    }))
    .await?;

    let plan = counts.table().plan(key())?;
    let Some(found) = counts.get(key()).await? else { panic!("just written") };
    let expected = [(8, 3 + 20), (9, 20), (10, 40)];
    let slots: Vec<_> =
        found.slots().iter().enumerate().filter_map(|(hour, count)| Some((hour, (*count)?))).collect();
    assert_eq!(slots, expected, "the first, and four times five of each");

    let mut answer = Grid::new(["Hour", "#Messages"]);
    for (hour, count) in slots {
        answer.row([format!("Hour{hour:02}"), count.to_string()]);
    }
    Ok(Report::new(plan, answer)
        .note("One request reads the whole day; an hour without messages has no property."))
}
