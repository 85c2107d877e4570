use proptest::prelude::*;
use table_core::key::PartitionKey;
use table_core::name::TableName;

use super::*;
use crate::converge::Place;

proptest! {
    #[test]
    fn packs_contain_all_parts_in_order_and_fit_unless_one_part_does_not(
        parts in prop::collection::vec((0..30_usize, prop::collection::btree_set("[a-f]", 0..4)), 0..60),
        together in 1..20_usize,
    ) {
        let place = Place { table: TableName::new("View").unwrap(), partition_key: PartitionKey::new("p").unwrap() };
        let part = |(item, (own, shared)): (usize, (usize, BTreeSet<String>))| {
            Part { item, place: place.clone(), own, shared: shared.into_iter().collect(), what: () }
        };
        let parts: Vec<_> = parts.into_iter().enumerate().map(part).collect();
        let packs = of(&parts, 40, together);
        let order: Vec<_> = packs.iter().flat_map(|pack| pack.iter().map(|part| part.item)).collect();
        prop_assert_eq!(order, (0..parts.len()).collect::<Vec<_>>());
        for pack in packs {
            let shared: BTreeSet<_> = pack.iter().flat_map(|part| &part.shared).collect();
            let operations = pack.iter().map(|part| part.own).sum::<usize>() + shared.len();
            prop_assert!(pack.len() == 1 || (operations <= 40 && pack.len() <= together));
        }
    }
}
