//! Paging with a stored token. Another process can later use the token to request the next page (DQ-12).

use table_core::{Continuation, Entity, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::earthquakes::Earthquake;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "paging",
    question: "Which events are in the log of the network `ak`, in pages of 100, with a pause after each?",
    schema: Earthquake::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let mut answer = Grid::new(["#Page", "#Events", "First", "Token to store"]);
    let mut ids = Vec::new();
    let mut token: Option<String> = None;
    loop {
        // The query continues from the stored text alone. Another process could do the same.
        let earthquakes = store.table::<Earthquake>();
        let query = earthquakes.query(Earthquake::partition("ak")).page_size(100);
        let page = match &token {
            None => query.page().await?,
            Some(token) => query.page_from(&token.parse::<Continuation>()?).await?,
        };
        token = page.continuation.as_ref().map(ToString::to_string);
        let first = page.items.first().map(|event| event.id.clone()).unwrap_or_default();
        let (number, events) = (answer.len() + 1, page.items.len());
        answer.row([number.to_string(), events.to_string(), first, token.clone().unwrap_or_default()]);
        ids.extend(page.items.into_iter().map(|event| event.into_value().id));
        if token.is_none() {
            break;
        }
    }

    let of_alaska = inputs.earthquakes.iter().filter(|event| event.network == "ak");
    assert!(ids.iter().eq(of_alaska.map(|event| &event.id)), "each event once, the latest first");

    let plan = store.table::<Earthquake>().query(Earthquake::partition("ak")).page_size(100).plan()?;
    Ok(Report::new(plan, answer))
}
