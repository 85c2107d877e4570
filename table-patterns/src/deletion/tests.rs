//! Tests deletions of many rows. Meanwhile, another writer changes or deletes some of them.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::query::{KeyRange, Query};
use table_core::testing::LimitedStore;
use table_core::{Entity, Table, TableStoreExt};

use super::*;
use crate::tests::faults::{Call, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Many")]
#[partition_key(of)]
#[row_key(number)]
struct One {
    of: u8,
    #[digits(4)]
    number: u32,
    version: i32,
}

type Store = FaultyStore<LimitedStore<Engine>>;

fn filled(
    rows: impl Iterator<Item = (u8, u32)>,
    most: usize,
    is_ordered: bool,
) -> (Store, Table<One, Store>) {
    let limited = LimitedStore::new(Engine::in_memory(), |capabilities| {
        (capabilities.ordered, capabilities.limits.operations) = (is_ordered, most);
    });
    let store = FaultyStore::new(if is_ordered { limited } else { limited.shuffled(1_000) });
    let table = block_on(store.table::<One>().create_if_missing()).unwrap();
    for (of, number) in rows {
        block_on(table.insert(&One { of, number, version: 0 })).unwrap();
    }
    (store, table)
}

/// Returns the keys and versions of all rows, in store order.
fn stored(store: &Store) -> Vec<(EntityKey, IfMatch)> {
    let name = TableName::new("Many").unwrap();
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = block_on(store.query(&name, &Query::new(KeyRange::ALL), from.as_ref())).unwrap();
        for row in page.rows.iter() {
            let key = EntityKey::new(row.partition_key, row.row_key).unwrap();
            found.push((key, IfMatch::ETag(row.etag())));
        }
        from = page.continuation;
        if from.is_none() {
            return found;
        }
    }
}

proptest! {
    #[test]
    fn only_the_rows_that_meet_their_conditions_are_deleted(
        rows in prop::collection::btree_map((0..3_u8, 0..60_u32), 0..4_u8, 0..120),
        most in 1..12_usize,
        (is_ordered, is_conditional) in any::<(bool, bool)>(),
    ) {
        let (store, table) = filled(rows.keys().copied(), most, is_ordered);
        let mut deletions = stored(&store);
        if !is_conditional {
            for (_, if_match) in &mut deletions {
                *if_match = IfMatch::Any;
            }
        }
        // Another writer deletes some of the rows and changes others.
        let (mut kept, mut gone) = (BTreeMap::new(), 0);
        for ((of, number), action) in &rows {
            match action {
                0 => {
                    block_on(table.delete(One::key(*of, *number), IfMatch::Any)).unwrap();
                    gone += 1;
                }
                1 => {
                    let changed = One { of: *of, number: *number, version: 1 };
                    block_on(table.replace(&changed, IfMatch::Any)).unwrap();
                    if is_conditional {
                        kept.insert((*of, *number), changed);
                    }
                }
                _ => {}
            }
        }
        let name = TableName::new("Many").unwrap();
        let deleted = block_on(delete_rows((&store, &name), deletions)).unwrap();
        prop_assert_eq!(deleted, u64::try_from(rows.len() - kept.len() - gone).unwrap());
        let mut left = block_on(table.scan("a test").max_rows(1_000).collect()).unwrap();
        left.sort_by_key(|one| (one.of, one.number));
        prop_assert_eq!(left, kept.into_values().collect::<Vec<_>>());
    }
}

#[test]
fn a_hundred_rows_of_a_partition_take_one_request() {
    for is_ordered in [true, false] {
        for count in [100_u32, 400] {
            let (store, _) = filled((0..count).map(|number| ((number % 2) as u8, number)), 100, is_ordered);
            let rows = stored(&store);
            store.heal();
            let name = TableName::new("Many").unwrap();
            assert_eq!(block_on(delete_rows((&store, &name), rows)).unwrap(), u64::from(count));
            let requests = usize::try_from((count / 2).div_ceil(100) * 2).unwrap();
            assert_eq!(store.calls(), vec![Call::Submit; requests], "{count} rows, ordered: {is_ordered}");
        }
    }
}
