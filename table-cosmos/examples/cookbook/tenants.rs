//! A recipe that stores user events, grouped by tenant (HPK-20).

use std::fmt::Write as _;

use table_core::query::{KeyRange, Query, TextRange};
use table_core::{Entity, Result, TableName, TableStoreExt};
use table_cosmos::Options;
use table_cosmos::emulator::Emulator;

use super::Shown;
use super::ledger::{Ledger, Rows};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Events")]
#[partition_key(tenant, user, session)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    session: String,
    #[digits(6)]
    number: u32,
    kind: String,
}

pub(super) async fn run() -> Result<Shown> {
    let emulator = Emulator::new(false)?;
    let store = emulator.open(Options::new().levels_of::<Event>()).await?;
    let table = TableName::new("Events")?;
    emulator.create(&table, 3, 8, None)?;
    let events = store.table::<Event>();
    // The first request opens the container.
    events.get(Event::key("contoso", "u0", "s1", 1)).await?;

    let mut ledger = Ledger::new(&emulator);
    let users = |tenant: &'static str, count: usize| (0..count).map(move |user| (tenant, format!("u{user}")));
    let mut written = 0;
    for (tenant, user) in users("contoso", 20).chain(users("fabrikam", 3)).chain(users("con", 2)) {
        let (tenant, session, kind) = (tenant.to_owned(), "s1".to_owned(), "sign-in".to_owned());
        events.insert(&Event { tenant, user, session, number: 1, kind }).await?;
        written += 1;
    }
    ledger.add("write an event", Rows::Written(written));

    let one = events.get(Event::key("contoso", "u7", "s1", 1)).await?;
    ledger.add("one event", Rows::Read(usize::from(one.is_some())));
    let session = events.query(Event::partition("contoso", "u7", "s1")).collect().await?;
    ledger.add("a session: the partition key", Rows::Found(session.len()));
    let user = events.query(Event::within("contoso").user_is("u7")).collect().await?;
    ledger.add("a user: two levels", Rows::Found(user.len()));
    let tenant = events.query(Event::within("contoso")).collect().await?;
    ledger.add("a tenant: one level", Rows::Found(tenant.len()));
    let all = events.scan("the day's audit").max_rows(1_000).collect().await?;
    ledger.add("every event: a scan", Rows::Found(all.len()));
    assert_eq!((session.len(), user.len(), tenant.len(), all.len()), (1, 1, 20, 25));
    assert!(tenant.iter().all(|event| event.tenant == "contoso"), "and none of `con`");

    let mut text = format!("Multi-tenant: tenant > user > session on 8 physical partitions\n\n{ledger}\n");
    for range in [TextRange::prefix("contoso!u7!"), TextRange::ALL] {
        let keys = KeyRange { partition_key: range, row_key: TextRange::ALL };
        let _ = writeln!(text, "{}", store.explain(&table, &Query::new(keys)).await?);
    }
    Ok(Shown { name: "tenants", text, picture: None })
}
