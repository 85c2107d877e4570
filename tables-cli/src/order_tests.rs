//! Tests that commands behave the same on a store with key order and on a store without.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use table_core::query::KeyRange;
use table_core::testing::LimitedStore;
use table_core::{
    DynTableStore, Engine, EntityKey, IfMatch, Query, TableEntity, TableName, TableStoreExt, Value,
};
use table_inspect::derived::part_of;
use table_inspect::keys;
use table_inspect::kind::Kinds;
use table_patterns::{Entity, EntityStore};
use uuid::Uuid;

use crate::check::{CheckedIndex, check_copies, check_wide, refuse_torn};
use crate::failure::Failure;
use crate::rows::Selected;
use crate::transfer::contained::first_not_contained;
use crate::transfer::copy::Copying;
use crate::transfer::delete::{Deleted, delete};
use crate::transfer::parts::has_parts;
use crate::transfer::state::StateFile;
use crate::transfer::writer::{Change, Mode, Writer};

/// A row: the write that stored it if it is a part, and `true` if it is selected.
type Row = (Option<u8>, bool);
type Table = BTreeMap<(String, String), Row>;
/// The write and the selection of each part of a wide entity, keyed by part number.
type Parts = BTreeMap<usize, (u8, bool)>;

fn name() -> TableName {
    TableName::new("Things").unwrap()
}

/// Returns a store with key order and a shuffled store without key order, each with its engine. The shuffled store's pages have `page_rows` rows.
fn stores(page_rows: usize) -> [(DynTableStore, Engine); 2] {
    let (ordered, unordered) = (Engine::in_memory(), Engine::in_memory());
    let shuffled = LimitedStore::new(unordered.clone(), |capabilities| capabilities.ordered = false);
    [
        (DynTableStore::new(ordered.clone()), ordered),
        (DynTableStore::new(shuffled.shuffled(page_rows)), unordered),
    ]
}

async fn fill(engine: &Engine, rows: &Table) {
    let table = engine.untyped("Things").unwrap().create_if_missing().await.unwrap();
    for ((partition, row_key), (write, is_selected)) in rows {
        let row =
            TableEntity::new(partition.as_str(), row_key.as_str()).unwrap().with("Chosen", *is_selected);
        let write = write.map(|write| Value::Guid(Uuid::from_u128(write.into())));
        let row = match write {
            Some(write) => row.with("WriteId", write),
            None => row,
        };
        table.insert(&row).await.unwrap();
    }
}

async fn keys_of(engine: &Engine) -> BTreeSet<(String, String)> {
    let rows = engine.untyped("Things").unwrap().scan("test").max_rows(1_000).collect().await.unwrap();
    let key = |row: &TableEntity| {
        let EntityKey { partition_key, row_key } = row.key();
        (partition_key.as_str().to_owned(), row_key.as_str().to_owned())
    };
    rows.iter().map(key).collect()
}

/// Returns the wide entities in the rows, with the write and the selection of each part.
fn wholes(rows: &Table) -> BTreeMap<(&str, &str), Parts> {
    let mut wholes = BTreeMap::<_, Parts>::new();
    for ((partition, row_key), (write, is_selected)) in rows {
        if let (Some((base, number)), Some(write)) = (part_of(row_key), write) {
            wholes.entry((partition.as_str(), base)).or_default().insert(number, (*write, *is_selected));
        }
    }
    wholes
}

/// Returns the keys of entities that lack a part or mix parts from several writes.
fn defective(rows: &Table) -> BTreeSet<(String, String)> {
    let is_defective = |parts: &Parts| {
        let writes: BTreeSet<_> = parts.values().map(|(write, _)| write).collect();
        writes.len() > 1 || (1..).zip(parts).any(|(expected, (number, _))| *number != expected)
    };
    let defective = wholes(rows).into_iter().filter(|(_, parts)| is_defective(parts));
    defective.map(|((partition, base), _)| (partition.to_owned(), base.to_owned())).collect()
}

async fn agree(rows: &Table, page_rows: usize) -> Result<(), TestCaseError> {
    let all: Selected = Query { top: Some(page_rows), ..Query::new(KeyRange::ALL) }.into();
    let chosen: Selected = Query { top: Some(page_rows), ..Query::parse("Chosen eq true").unwrap() }.into();
    let has_part = |is_chosen: bool| {
        let mut parts = wholes(rows).into_values().flat_map(BTreeMap::into_values);
        parts.any(|(_, is_selected)| is_selected || !is_chosen)
    };
    let is_torn = wholes(rows).values().any(|parts| {
        let selected = parts.values().filter(|(_, is_selected)| *is_selected).count();
        selected > 0 && selected < parts.len()
    });
    let table = name();
    for (store, engine) in stores(page_rows) {
        fill(&engine, rows).await;
        prop_assert!(refuse_torn(&store, &name(), &all).await.is_ok(), "{store}: all parts are selected");
        let refused = refuse_torn(&store, &name(), &chosen).await;
        prop_assert_eq!(matches!(refused, Err(Failure::Refused(_))), is_torn, "{} {:?}", store, refused);
        prop_assert_eq!(has_parts(&store, &name(), &all).await.unwrap(), has_part(false));
        prop_assert_eq!(has_parts(&store, &name(), &chosen).await.unwrap(), has_part(true));

        let mut found = BTreeSet::new();
        let checked = check_wide(&store, &table, async |finding| {
            let EntityKey { partition_key, row_key } = finding.key;
            found.insert((partition_key.as_str().to_owned(), row_key.as_str().to_owned()));
            Ok(())
        });
        prop_assert_eq!(checked.await.unwrap().entities, wholes(rows).len() as u64, "{}", store);
        prop_assert_eq!(found, defective(rows), "{}", store);

        for (target, copied) in stores(page_rows) {
            let mut state = StateFile::open(None, "a test").unwrap();
            let copying = Copying {
                source: (&store, &name()),
                target: (&target, &name()),
                selected: chosen.clone(),
                rewrite: &Ok,
                mode: Mode::Replace,
                guards_parts: defective(rows).is_empty(),
                rate: None,
            };
            copying.run(&mut state).await.unwrap();
            let expected =
                rows.iter().filter(|(_, (_, is_selected))| *is_selected).map(|(key, _)| key.clone());
            prop_assert_eq!(keys_of(&copied).await, expected.collect(), "{} to {}", store, target);
            let missing = first_not_contained((&store, &name()), &chosen, (&target, &name())).await.unwrap();
            prop_assert!(missing.is_none(), "{store} to {target}");
        }

        // Stored rows that are rewritten unchanged are not rejected.
        if defective(rows).is_empty() {
            let mut writer = Writer::new(store.clone(), name(), Mode::Replace, None).guarding_parts();
            for row in engine.untyped("Things").unwrap().scan("test").max_rows(1_000).collect().await.unwrap()
            {
                writer.push(1, Change::Write(row)).await.unwrap();
            }
            writer.flush().await.unwrap();
            prop_assert_eq!(writer.take_rejected(), Vec::new(), "{}", store);
        }

        let selected = rows.values().filter(|(_, is_selected)| *is_selected).count() as u64;
        let deleted = delete(&store, &name(), chosen.clone(), false, None).await.unwrap();
        prop_assert_eq!(deleted, Deleted { deleted: selected, kept: 0, omitted: 0 }, "{}", store);
        let left = rows.iter().filter(|(_, (_, is_selected))| !is_selected).map(|(key, _)| key.clone());
        prop_assert_eq!(keys_of(&engine).await, left.collect(), "{}", store);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn transfers_and_checks_of_wide_entities_do_not_depend_on_the_order_of_rows(
        rows in prop::collection::btree_map(
            ("p|q", "[ab](_0[123]){0,3}"),
            (prop::option::weighted(0.7, 1..3_u8), any::<bool>()),
            0..40,
        ),
        whole in prop::collection::btree_map(("p|q", "[ab](_0[12]){0,2}"), (1..4_usize, any::<bool>()), 0..12),
        page_rows in 1..9_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // A table of complete entities. Either all or none of an entity's parts are selected.
        let mut complete = Table::new();
        for ((partition, base), (parts, is_selected)) in &whole {
            for number in 1..=*parts {
                complete.insert((partition.clone(), format!("{base}_{number:02}")), (Some(1), *is_selected));
            }
        }
        runtime.block_on(agree(&rows, page_rows))?;
        runtime.block_on(agree(&complete, page_rows))?;
    }
}

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Things", crate = table_patterns)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
}

#[tokio::test]
async fn the_same_index_rows_are_found_to_be_wrong_in_any_order() {
    let mut all = Vec::new();
    for (store, engine) in stores(7) {
        let employees = engine.entities::<Employee>().create_if_missing().await.unwrap();
        for id in 0..60 {
            let department = format!("Sales{}", id % 3);
            employees
                .insert(&Employee { department, id, email: format!("n{id}@contoso.com") })
                .await
                .unwrap();
        }
        let rows = engine.untyped("Things").unwrap();
        for (partition, row_key) in [
            ("Sales1", "email_n31@contoso.com"),
            ("Sales0", "empid_000030"),
            ("Sales2", "email_n59@contoso.com"),
        ] {
            rows.delete(&EntityKey::new(partition, row_key).unwrap(), IfMatch::Any).await.unwrap();
        }
        let schemas = keys::schemas_of_rows(&store, &name()).await.unwrap();
        let (kinds, schema) = (Kinds::new("Things", &schemas), &schemas[0].1);
        let table = name();
        let checked =
            CheckedIndex { store: &store, table: &table, schema, index: &schema.indexes[0], kinds: &kinds };
        let mut faults = BTreeSet::new();
        let counts = check_copies(checked, async |finding| {
            faults.insert(format!("{:?} {:?}", finding.key, finding.fault));
            Ok(())
        });
        let counts = counts.await.unwrap();
        assert_eq!((counts.entities, counts.index_rows, faults.len()), (59, 58, 3), "{store}: {faults:?}");
        all.push(faults);
    }
    assert_eq!(all[0], all[1]);
}
