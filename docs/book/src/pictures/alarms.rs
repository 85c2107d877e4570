//! Draws the picture of alarms in the chapter "Logs".

use chrono::{DateTime, TimeDelta, Utc};
use table_patterns::Entity;
use table_patterns::log_tail::LogStamp;

use super::Picture;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Alarms")]
#[partition_key(site)]
#[row_key(stamp)]
struct Alarm {
    site: String,
    stamp: LogStamp,
    text: String,
}

#[test]
fn alarms() {
    let first: DateTime<Utc> = "2026-03-01T08:00:00Z".parse().unwrap();
    let keys = (0..3_u8).map(|n| {
        let stamp = LogStamp::new(first + TimeDelta::minutes(n.into()), n.into()).unwrap();
        Alarm { site: "north".into(), stamp, text: String::new() }.key_of().unwrap()
    });
    Picture {
        name: "alarms",
        chapter: "book/pattern-logs.md",
        source: include_str!("alarms.rs"),
        schema: Alarm::SCHEMA,
        keys: keys.collect(),
        read: &[],
    }
    .check();
}
