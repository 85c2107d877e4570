//! Tests that the order of the stored seal keys does not depend on clocks, nor on the order in which the store returns rows.

use std::collections::BTreeSet;

use pollster::block_on;
use table_core::embedded::{Clock, Engine};
use table_core::key::RowKey;
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::testing::LimitedStore;
use table_core::ticks;

use super::NOW;
use crate::outbox::registry::KEYS;
use crate::outbox::{Outbox, REGISTRY};
use crate::work::Runtime;

/// Returns the `RowKey`s of the stored keys.
fn keys(store: &Engine) -> BTreeSet<RowKey> {
    let registry = TableName::new(REGISTRY).unwrap();
    let page = match block_on(store.query(&registry, &Query::new(KeyRange::ALL), None)) {
        Err(error) if error.is_table_not_found() => return BTreeSet::new(),
        page => page.unwrap(),
    };
    let keys = page.rows.iter().filter(|row| row.partition_key == KEYS);
    keys.map(|row| RowKey::new(row.row_key).unwrap()).collect()
}

#[test]
fn pat_ec_4_the_key_that_was_added_last_replaces_all_others() {
    for is_ordered in [true, false] {
        let engine = Engine::in_memory();
        let store = LimitedStore::new(engine.clone(), |capabilities| capabilities.ordered = is_ordered);
        let store = if is_ordered { store } else { store.shuffled(2) };
        for (at, now) in
            [NOW, 0, NOW, ticks::MAX, NOW, NOW + 1, 0, 1].into_iter().cycle().take(24).enumerate()
        {
            let runtime = Runtime::new().clock(Clock::new(move || now));
            let queue = QueueName::new("work").unwrap();
            let outbox = Outbox::with_runtime(store.clone(), engine.clone(), queue, runtime);
            let known = keys(&engine);
            block_on(outbox.rotate_key()).unwrap();
            let added: BTreeSet<_> = keys(&engine).difference(&known).cloned().collect();
            // Every third key is added before the earlier keys have been removed.
            if at % 3 != 1 {
                block_on(outbox.remove_old_keys()).unwrap();
                assert_eq!(keys(&engine), added, "key {at} of time {now}, ordered: {is_ordered}");
            }
        }
    }
}
