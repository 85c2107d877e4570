//! Draws the picture of counts in the chapter "Series and wide entities".

use chrono::NaiveDate;
use table_patterns::Entity;

use super::Picture;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(day)]
struct MessageCounts {
    #[digits(6)]
    employee: u32,
    day: NaiveDate,
}

#[test]
fn series() {
    let keys = (21..25).map(|n| {
        let day = NaiveDate::from_ymd_opt(2026, 4, n).unwrap();
        MessageCounts { employee: 123, day }.key_of().unwrap()
    });
    Picture {
        name: "series",
        chapter: "book/pattern-series.md",
        source: include_str!("series.rs"),
        schema: MessageCounts::SCHEMA,
        keys: keys.collect(),
        read: &[],
    }
    .check();
}
