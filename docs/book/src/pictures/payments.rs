//! Draws the picture of payments in the chapter "Keys".

use chrono::{DateTime, TimeDelta, Utc};
use table_patterns::Entity;

use super::Picture;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payments")]
#[partition_key(account)]
#[row_key(desc(at), "_", number)]
struct Payment {
    account: String,
    at: DateTime<Utc>,
    #[digits(3)]
    number: u16,
    cents: i64,
}

#[test]
fn payments() {
    let first: DateTime<Utc> = "2026-03-01T08:00:00Z".parse().unwrap();
    let keys = (0..4).map(|day| {
        let at = first + TimeDelta::days(day);
        Payment { account: "ada".into(), at, number: 1, cents: 100 }.key_of().unwrap()
    });
    Picture {
        name: "payments",
        chapter: "book/keys.md",
        source: include_str!("payments.rs"),
        schema: Payment::SCHEMA,
        keys: keys.collect(),
        read: &Payment::rows("ada").at(first + TimeDelta::days(2)..).ranges().unwrap(),
    }
    .check();
}
