//! Tests exports from daily tables, one of which expires during the export. The rows of all other days must be exported exactly once.

use chrono::{DateTime, TimeDelta, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::store::TableStore;
use table_core::{Entity, ticks};

use crate::periods::{Period, PeriodTables, Periodic};
use crate::tenant::{ExportPosition, Tenant};

/// A login. Each tenant's logins are in four partitions.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins")]
#[partition_key(without('_', tenant), "_", bucket(user, 4))]
#[row_key(user)]
struct Login {
    tenant: String,
    #[digits(4)]
    user: u32,
    at: DateTime<Utc>,
}

impl Periodic for Login {
    const PERIOD: Period = Period::Day;
    fn instant(&self) -> DateTime<Utc> {
        self.at
    }
}

const DAYS: i64 = 3;
const USERS: u32 = 12;

/// Returns a store with logins on three days. The first login is in the table that expires first.
fn logins() -> (Engine, PeriodTables<Login, Engine>, Vec<DateTime<Utc>>) {
    let store = Engine::in_memory();
    let logins = PeriodTables::new(store.clone());
    let noon = Period::Day.start(ticks::now()) + TimeDelta::hours(12);
    let days: Vec<_> = (0..DAYS).rev().map(|day| noon - TimeDelta::days(day)).collect();
    for at in &days {
        for user in 0..USERS {
            block_on(logins.insert(&Login { tenant: "contoso".into(), user, at: *at })).unwrap();
        }
    }
    (store, logins, days)
}

/// Returns the table and the RowKey of each row in an export, in order.
fn rows(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut rows: Vec<_> = lines
        .filter_map(|line| {
            let row = line.get("Row")?;
            Some((row["Table"].as_str()?.to_owned(), row["Entity"]["RowKey"].as_str()?.to_owned()))
        })
        .collect();
    rows.sort();
    rows
}

#[test]
fn an_export_during_an_expiry_has_every_row_of_the_other_tables_once() {
    for page in [1, 2, 100] {
        for dropped in 0..3 {
            for steps in 0.. {
                let (store, logins, days) = logins();
                let tenant = Tenant::new().with_periods(&logins, Login::rows("contoso")).unwrap();
                assert_eq!(tenant.places[0].partitions.len(), 4);
                let names: Vec<_> = days.iter().map(|day| logins.name_of(*day).unwrap()).collect();
                let (mut export, mut text, mut is_end) = (tenant.export().page(page), String::new(), false);
                for _ in 0..steps {
                    match block_on(export.step()).unwrap() {
                        Some(lines) => text += &lines,
                        None => is_end = true,
                    }
                }
                block_on(store.delete_table(&names[dropped])).unwrap();
                // Another process continues the export.
                let position: ExportPosition = export.position().to_string().parse().unwrap();
                text.truncate(usize::try_from(position.bytes()).unwrap());
                let mut export = tenant.export().page(page).resume(position).unwrap();
                while let Some(lines) = block_on(export.step()).unwrap() {
                    text += &lines;
                }
                let mut found = rows(&text);
                found.retain(|(table, _)| table != names[dropped].as_str());
                let kept = names.iter().filter(|name| **name != names[dropped]);
                let expected: Vec<_> = kept
                    .flat_map(|name| (0..USERS).map(|user| (name.as_str().to_owned(), format!("{user:04}"))))
                    .collect();
                assert_eq!(found, expected, "page {page}, table {dropped} dropped after {steps} steps");
                if is_end {
                    break;
                }
            }
        }
    }
}
