//! Shared access signatures. They limit access to a store to one partition and one hour (IMP-4).

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::DateTime;
use table_azure::sas::{SasVerifier, TablePermissions, TableSas};
use table_azure::{AccountKey, Clock};
use table_core::{Entity, ErrorCode, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather::Day;
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "scoped",
    question: "The office of Seattle may read its own weather for an hour: what does it see of the table?",
    schema: Day::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    // The holder of the account key signs a token for the keys of a selection. The clock of this recipe makes the token expire.
    let key = AccountKey::new("contoso", "a2V5IG9mIGFuIGV4YW1wbGU=")?;
    let now = Arc::new(AtomicI64::new(1_420_070_400));
    let hand = Arc::clone(&now);
    let at = move || DateTime::from_timestamp(hand.load(Ordering::SeqCst), 0).unwrap_or_default();
    let token = TableSas::selection(Day::partition("Seattle"))?
        .allow(TablePermissions::READ)
        .valid_for(at(), Duration::from_secs(60 * 60))
        .sign(&key)?;

    // The view applies the rules of the token to any store. A service applies them itself if a request contains the token.
    let office =
        SasVerifier::new(key).clock(Clock::of_instants(at)).scoped(store.clone(), &token).table::<Day>();
    let mut answer = Grid::new(["Asked for", "Answer"]);
    let own = office.query(Day::partition("Seattle")).collect().await?;
    answer.row(["Seattle", &format!("{} days", own.len())]);
    let all = office.scan("all that may be seen").max_rows(10_000).collect().await?;
    answer.row(["the whole table", &format!("{} days", all.len())]);
    let expected: Vec<Day> =
        inputs.weather.iter().filter(|day| day.location == "Seattle").map(Day::from).collect();
    assert_eq!((own, &all), (expected.clone(), &expected), "and nothing says that there is more");

    let first = &inputs.weather[0];
    let Err(other) = office.get(Day::key("New York", first.date)).await else {
        panic!("New York is not theirs")
    };
    let Err(written) = office.insert_or_replace(&Day::from(first)).await else {
        panic!("to be read, not written")
    };
    now.fetch_add(3_600, Ordering::SeqCst);
    let Err(late) = office.get(Day::key("Seattle", first.date)).await else { panic!("the hour is over") };
    for (asked, error, code) in [
        ("a day of New York", &other, ErrorCode::AuthorizationFailure),
        ("to write a day of Seattle", &written, ErrorCode::AuthorizationPermissionMismatch),
        ("Seattle, an hour later", &late, ErrorCode::AuthenticationFailed),
    ] {
        assert_eq!(error.code(), code);
        answer.row([asked, code.as_str()]);
    }
    let text = token.query_string();
    let signed = text.split("&sig=").next().unwrap_or_default();
    Ok(Report::new(office.plan(Day::partition("Seattle"))?, answer)
        .note(format!("The signed text: {signed}")))
}
