//! Tests that entities' records are read as they were written.

use proptest::prelude::*;
use table_core::key::EntityKey;

use crate::view::record::{Amounts, Cut, Share};

fn amounts() -> impl Strategy<Value = Amounts> {
    prop::collection::btree_map("[A-Z][a-z]{0,3}", any::<i64>(), 0..3)
}

proptest! {
    #[test]
    fn imp_6_a_record_with_several_recounts_is_read_as_it_was_written(
        rows in prop::collection::btree_set("[a-z_]{1,4}", 0..4),
        sums in prop::collection::btree_map("[a-z_]{1,4}", amounts(), 0..4),
        cuts in prop::collection::btree_map("[a-z_]{1,4}", ("[ab]", amounts()), 0..6),
    ) {
        let cuts = cuts.into_iter().map(|(row, (id, amounts))| (row, Cut { id, amounts })).collect();
        let share = Share { rows, sums, cuts };
        let row = share.write(&EntityKey::new("Sales", "empid_000223").unwrap()).unwrap();
        prop_assert_eq!(Share::read(row.view()).unwrap(), share);
    }
}
