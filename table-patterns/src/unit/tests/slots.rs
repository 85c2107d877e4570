//! Tests that a unit writes slots of a series only in its own table and partition.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, ErrorCode};

use crate::EntityStore;
use crate::series::{Series, SeriesTable};
use crate::slot_names;
use crate::tests::faults::FaultyStore;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Ledger")]
#[partition_key(tenant)]
#[row_key("balances_", page)]
struct Balances {
    tenant: String,
    #[digits(4)]
    page: u32,
}

/// Balances with the same keys in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Archive")]
#[partition_key(tenant)]
#[row_key("balances_", page)]
struct Archived {
    tenant: String,
    #[digits(4)]
    page: u32,
}

impl Series for Balances {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("Account", 0, 200);
}

impl Series for Archived {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("Account", 0, 200);
}

fn of(tenant: &str) -> Balances {
    Balances { tenant: tenant.into(), page: 0 }
}

#[test]
fn egt_5_slots_of_an_entity_elsewhere_are_refused_and_change_nothing() {
    let store = FaultyStore::new(Engine::in_memory());
    block_on(async {
        let balances = store.entities::<Balances>().create_if_missing().await?;
        store.heal();
        let archived = Archived { tenant: "contoso".into(), page: 0 };
        for is_first in [true, false] {
            let mut unit = balances.unit(Balances::partition("contoso"))?;
            if !is_first {
                unit.set_slots(&of("contoso"), [(1, 5)]).await?;
            }
            store.heal();
            let refused = [
                unit.set_slots(&of("fabrikam"), [(2, 7)]).await.map(drop),
                unit.increment(&of("fabrikam"), &[(2, 7)]).await.map(drop),
                unit.set_slots(&archived, [(2, 7)]).await.map(drop),
                unit.increment(&archived, &[(2, 7)]).await.map(drop),
            ];
            assert_eq!(store.calls(), [], "no row is read");
            let refused = refused.map(|refused| refused.unwrap_err());
            let rules = refused.each_ref().map(table_core::Error::rule);
            assert_eq!(rules, [Some("EGT-5"), Some("EGT-5"), Some("EGT-1"), Some("EGT-1")], "{refused:?}");
            assert_eq!(refused[0].code(), ErrorCode::CommandsInBatchActOnDifferentPartitions);
            unit.set_slots(&of("contoso"), [(3, 9)]).await?;
            assert_eq!(unit.commit().await?.len(), 1, "no condition remains of a refused call");
        }
        let series = SeriesTable::new(balances);
        let stored = series.get(Balances::key("contoso", 0)).await?.unwrap();
        let slots: Vec<_> =
            stored.slots().iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
        assert_eq!(slots, [(1, 5), (3, 9)]);
        assert!(series.get(Balances::key("fabrikam", 0)).await?.is_none());
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
