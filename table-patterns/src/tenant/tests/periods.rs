//! Tests tenants with several types that share one table per period. Every row must be counted, exported, imported and erased exactly
//! once.

use std::collections::BTreeSet;

use pollster::block_on;

use super::depots::{Balance, Depots, ENTITIES, KINDS, Rows, orders};
use super::kit::{export, import};
use crate::periods::Period;
use crate::tenant::ExportPosition;

/// Returns the number of places in an export's header, and the table and RowKey of each exported row.
fn exported(text: &str) -> (usize, Vec<String>) {
    let lines = || text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let places = lines().find_map(|line| line.get("Tenant")?.get("Places")?.as_array().map(Vec::len));
    let rows = lines().filter_map(|line| {
        let row = line.get("Row")?;
        Some(format!("{} {}", row["Table"], row["Entity"]["RowKey"]).to_lowercase())
    });
    (places.unwrap(), rows.collect())
}

#[test]
fn every_row_is_counted_and_exported_once() {
    let depots = Depots::filled();
    let rows = depots.rows("oslo", Period::Day);
    for kinds in orders() {
        let tenant = depots.tenant("oslo", &kinds);
        let count = block_on(tenant.count()).unwrap();
        let expected = kinds.iter().map(|kind| (kind.name(), ENTITIES));
        assert_eq!(count.entities, expected.collect());
        assert_eq!(count.rows(), u64::try_from(rows.len()).unwrap());
        let (places, lines) = exported(&export(&tenant));
        let keys = rows.keys().map(|(table, _, row_key)| format!("\"{table}\" \"{row_key}\"").to_lowercase());
        assert_eq!(places, 1);
        assert_eq!(lines.iter().cloned().collect::<BTreeSet<_>>(), keys.collect());
        assert_eq!(lines.len(), rows.len());
    }
}

#[test]
fn an_export_continues_in_tables_whose_names_differ_in_case() {
    let depots = Depots::filled();
    let tenant = depots.tenant("oslo", &KINDS);
    let whole = export(&tenant);
    for page in [1, 7] {
        let (mut text, mut position) = (String::new(), ExportPosition::default());
        for _ in 0..whole.len() {
            let mut export = tenant.export().page(page).resume(position).unwrap();
            let Some(lines) = block_on(export.step()).unwrap() else { break };
            text += &lines;
            position = export.position().to_string().parse().unwrap();
        }
        assert_eq!(text, whole);
    }
}

#[test]
fn an_import_restores_every_type() {
    let from = Depots::filled();
    let rows = from.rows("oslo", Period::Day);
    for kinds in orders() {
        let to = Depots::new();
        let imported = import(&to.tenant("oslo", &kinds), &export(&from.tenant("oslo", &kinds))).unwrap();
        assert_eq!(imported.rows, u64::try_from(rows.len()).unwrap());
        assert_eq!(to.rows("oslo", Period::Day), rows);
        if kinds.len() == KINDS.len() {
            to.assert_readable("oslo");
        }
    }
}

#[test]
fn a_copy_under_another_name_has_every_row() {
    for kinds in orders().into_iter().filter(|kinds| kinds.len() == KINDS.len()) {
        let depots = Depots::filled();
        let before = depots.rows("oslo", Period::Day);
        let copied =
            block_on(depots.tenant("oslo", &kinds).copy_to(&depots.tenant("malmo", &kinds))).unwrap();
        assert_eq!(copied.rows, u64::try_from(before.len()).unwrap());
        let after = depots.rows("malmo", Period::Day);
        let of_oslo =
            after.into_iter().map(|((table, _, row_key), row)| ((table, "oslo".to_owned(), row_key), row));
        assert_eq!(of_oslo.collect::<Rows>(), before);
        assert_eq!(depots.rows("oslo", Period::Day), before);
        depots.assert_readable("malmo");
    }
}

#[test]
fn an_erasure_leaves_the_other_depot_and_the_other_period() {
    for kinds in orders() {
        let depots = Depots::filled();
        let kept = [("bergen", Period::Day), ("bergen", Period::Month), ("oslo", Period::Month)];
        let before = kept.map(|(depot, period)| depots.rows(depot, period));
        let rows = depots.rows("oslo", Period::Day).len();
        let tenant = depots.tenant("oslo", &kinds);
        let erased = block_on(tenant.erase()).unwrap();
        // The depot's feed is registered in each table.
        assert_eq!((erased.rows, erased.registrations, erased.passes), (u64::try_from(rows).unwrap(), 3, 1));
        assert_eq!(block_on(tenant.remaining()).unwrap(), 0);
        assert_eq!(depots.rows("oslo", Period::Day), Rows::new());
        assert_eq!(kept.map(|(depot, period)| depots.rows(depot, period)), before);
        depots.assert_readable("bergen");
    }
}

#[test]
fn tables_with_another_period_are_another_place() {
    let depots = Depots::filled();
    let tenant = depots.tenant("oslo", &KINDS);
    let tenant = tenant.with_periods(&depots.balances, Balance::partition("oslo")).unwrap();
    let rows = depots.rows("oslo", Period::Day).len() + depots.rows("oslo", Period::Month).len();
    let count = block_on(tenant.count()).unwrap();
    assert_eq!((count.entities["Balance"], count.rows()), (ENTITIES, u64::try_from(rows).unwrap()));
    let (places, lines) = exported(&export(&tenant));
    assert_eq!((places, lines.len()), (2, rows));
}
