//! Tests tenants with several types that share one table per period. Every row and every blob must be counted, exported, imported and erased exactly once.

use std::collections::BTreeSet;

use pollster::block_on;

use super::depots::{Balance, Blobs, Depots, ENTITIES, KINDS, Kind, Rows, noon, orders};
use super::kit::{export, import};
use crate::periods::Period;
use crate::tenant::{ExportPosition, Tenant};

/// Returns the number of `Place`s in an export's header, and the table and RowKey of each exported row.
fn exported(text: &str) -> (usize, Vec<String>) {
    let lines = || text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let places = lines().find_map(|line| line.get("Tenant")?.get("Places")?.as_array().map(Vec::len));
    let rows = lines().filter_map(|line| {
        let row = line.get("Row")?;
        Some(format!("{} {}", row["Table"], row["Entity"]["RowKey"]).to_lowercase())
    });
    (places.unwrap(), rows.collect())
}

/// Returns the names of the blobs in an export, in order. A blob with several parts is returned once for each part.
fn blobs_in(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut names: Vec<_> =
        lines.filter_map(|line| Some(line.get("Blob")?["Name"].as_str()?.to_owned())).collect();
    names.sort();
    names
}

/// Returns a filled store. The lists of notes are stored in blobs if the notes are registered, because an export refuses blobs of unregistered types.
fn filled_for(kinds: &[Kind]) -> Depots {
    Depots::filled(kinds.contains(&Kind::Note))
}

#[test]
fn every_row_and_every_blob_is_counted_and_exported_once() {
    for kinds in orders() {
        let depots = filled_for(&kinds);
        let (rows, blobs) = (depots.rows("oslo", Period::Day), depots.blobs("oslo"));
        let tenant = depots.tenant("oslo", &kinds);
        let count = block_on(tenant.count()).unwrap();
        let expected = kinds.iter().map(|kind| (kind.name(), ENTITIES));
        assert_eq!(count.entities, expected.collect());
        assert_eq!(count.rows(), u64::try_from(rows.len()).unwrap());
        assert_eq!(count.blobs, u64::try_from(blobs.len()).unwrap());
        let text = export(&tenant);
        let (places, lines) = exported(&text);
        assert_eq!(blobs_in(&text), depots.referenced_blobs("oslo").into_keys().collect::<Vec<_>>());
        let keys = rows.keys().map(|(table, _, row_key)| format!("\"{table}\" \"{row_key}\"").to_lowercase());
        assert_eq!(places, 1);
        assert_eq!(lines.iter().cloned().collect::<BTreeSet<_>>(), keys.collect());
        assert_eq!(lines.len(), rows.len());
    }
}

#[test]
fn an_export_continues_in_tables_whose_names_differ_in_case() {
    let depots = Depots::filled(true);
    let tenant = depots.tenant("oslo", &KINDS);
    let whole = export(&tenant);
    for page in [1, 7, 1_000] {
        let (mut text, mut position) = (String::new(), ExportPosition::default().to_string());
        let mut is_end = false;
        while !is_end {
            let mut export = tenant.export().page(page).resume(position.parse().unwrap()).unwrap();
            // The position moves after the last blob of a page.
            while !is_end && export.position().to_string() == position {
                match block_on(export.step()).unwrap() {
                    Some(lines) => text += &lines,
                    None => is_end = true,
                }
            }
            position = export.position().to_string();
        }
        // The parts of blobs follow the page of their rows.
        let without_blobs = |text: &str| {
            text.lines().filter(|line| !line.starts_with(r#"{"Blob""#)).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(without_blobs(&text), without_blobs(&whole));
        assert_eq!(blobs_in(&text), blobs_in(&whole));
        if page == 1_000 {
            assert_eq!(text, whole);
        }
    }
}

#[test]
fn an_import_restores_every_type_with_its_blobs() {
    for kinds in orders() {
        let (from, to) = (filled_for(&kinds), Depots::new(kinds.contains(&Kind::Note)));
        let rows = from.rows("oslo", Period::Day);
        let imported = import(&to.tenant("oslo", &kinds), &export(&from.tenant("oslo", &kinds))).unwrap();
        assert_eq!(to.blobs("oslo"), from.referenced_blobs("oslo"));
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
        // A list in a blob contains the name of its partition, so it cannot be copied to a partition with a different name.
        let depots = Depots::filled(false);
        let before = depots.rows("oslo", Period::Day);
        let copied =
            block_on(depots.tenant("oslo", &kinds).copy_to(&depots.tenant("malmo", &kinds))).unwrap();
        assert_eq!(copied.rows, u64::try_from(before.len()).unwrap());
        let after = depots.rows("malmo", Period::Day);
        let of_oslo = after.into_iter().map(|((table, _, row_key), row)| {
            ((table, "oslo".to_owned(), row_key), row.replace("/malmo/", "/oslo/"))
        });
        assert_eq!(of_oslo.collect::<Rows>(), before);
        let moved = depots.blobs("malmo").into_iter();
        let moved = moved.map(|(name, content)| (name.replace("/malmo/", "/oslo/"), content));
        assert_eq!(moved.collect::<Blobs>(), depots.blobs("oslo"));
        assert_eq!(depots.rows("oslo", Period::Day), before);
        depots.assert_readable("malmo");
    }
}

#[test]
fn an_erasure_leaves_the_other_depot_and_the_other_period() {
    for kinds in orders() {
        let depots = filled_for(&kinds);
        let (blobs, blobs_of_other) = (depots.blobs("oslo"), depots.blobs("bergen"));
        let kept = [("bergen", Period::Day), ("bergen", Period::Month), ("oslo", Period::Month)];
        let before = kept.map(|(depot, period)| depots.rows(depot, period));
        let rows = depots.rows("oslo", Period::Day).len();
        let tenant = depots.tenant("oslo", &kinds);
        let erased = block_on(tenant.erase()).unwrap();
        // The depot's feed is registered in each table.
        assert_eq!((erased.rows, erased.registrations, erased.passes), (u64::try_from(rows).unwrap(), 3, 1));
        assert_eq!(block_on(tenant.remaining()).unwrap(), 0);
        assert_eq!(erased.blobs, u64::try_from(blobs.len()).unwrap());
        assert_eq!((depots.blobs("oslo"), depots.blobs("bergen")), (Blobs::new(), blobs_of_other));
        assert_eq!(depots.rows("oslo", Period::Day), Rows::new());
        assert_eq!(kept.map(|(depot, period)| depots.rows(depot, period)), before);
        depots.assert_readable("bergen");
    }
}

#[test]
fn tables_with_another_period_are_another_place() {
    let depots = Depots::filled(true);
    let tenant = depots.tenant("oslo", &KINDS);
    let tenant = tenant.with_periods(&depots.balances, Balance::partition("oslo")).unwrap();
    let rows = depots.rows("oslo", Period::Day).len() + depots.rows("oslo", Period::Month).len();
    let count = block_on(tenant.count()).unwrap();
    assert_eq!((count.entities["Balance"], count.rows()), (ENTITIES, u64::try_from(rows).unwrap()));
    let (places, lines) = exported(&export(&tenant));
    assert_eq!((places, lines.len()), (2, rows));
}

#[test]
fn blobs_of_a_table_that_is_not_registered_are_refused() {
    let depots = Depots::new(false);
    let photos = block_on(depots.photos(noon())).unwrap();
    // The monthly tables have the same prefix.
    let monthly = Tenant::new().with_periods(&depots.balances, Balance::partition("oslo")).unwrap();
    for tenant in [Tenant::new(), monthly] {
        let error = tenant.with_blobs(&photos).unwrap_err();
        assert!(error.is_invalid_input() && error.to_string().contains("`Tenant::with_periods`"), "{error}");
    }
}
