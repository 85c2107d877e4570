//! Follows a log. Each poll returns the events since the previous poll, oldest first and without repetition (PAT-LOG).

use std::time::Duration;

use table_core::{Entity, Result, TableStoreExt, Versioned};
use table_patterns::log_tail::{LogStamp, LogTail};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::earthquake_log::{LoggedEarthquake, log};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

/// The maximum number of events returned by one poll.
const MOST: usize = 100;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "follower",
    question: "Every earthquake of the network `us`, the oldest first, read by two processes one after the other?",
    schema: LoggedEarthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let events = LogTail::new(store.table::<LoggedEarthquake>());
    let plan = events.table().plan(LoggedEarthquake::partition("us"))?;
    let us = || LoggedEarthquake::partition("us");
    let mut answer = Grid::new(["Process", "#Polls", "#Events", "Up to"]);

    let mut found: Vec<LoggedEarthquake> = Vec::new();
    let mut stored = LogStamp::FIRST.to_string();
    for (process, polls) in [("first", 1), ("second", usize::MAX)] {
        let mut follow = events.follow(us(), stored.parse()?, Duration::from_secs(2));
        let (before, mut polled) = (found.len(), 0);
        while polled < polls {
            let new = follow.next_batch(MOST).await?;
            if new.is_empty() {
                break;
            }
            polled += 1;
            found.extend(new.into_iter().map(Versioned::into_value));
        }
        stored = follow.position().to_string();
        let last = found.last().map(|event| event.stamp.instant().to_rfc3339()).unwrap_or_default();
        answer.row([process, &polled.to_string(), &(found.len() - before).to_string(), &last]);
    }

    let mut expected: Vec<_> =
        log(&inputs.earthquakes)?.into_iter().filter(|event| event.network == "us").collect();
    expected.sort_by_key(|event| event.stamp);
    assert_eq!(found, expected, "each once, in the order of the log");
    Ok(Report::new(plan, answer).note("Only the position, 36 characters, is passed between the two."))
}
