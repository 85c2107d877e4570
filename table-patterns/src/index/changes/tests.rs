use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::index::fixture::{Employee, employee};

/// The index rows that must exist, by table and key. A list is represented by the set of its members.
#[derive(Debug, Default, PartialEq)]
struct OtherRows {
    copies: BTreeMap<(String, EntityKey), Vec<u8>>,
    lists: BTreeMap<(String, EntityKey), BTreeSet<Vec<u8>>>,
}

fn place(index: &IndexSchema, key: &EntityKey) -> (String, EntityKey) {
    (index.table.unwrap_or("Company").to_owned(), key.clone())
}

/// Computes the index rows that must exist for the given entities. Uses the definition of each index directly, without comparing old and new entities.
fn expected<'e>(entities: impl Iterator<Item = &'e Employee>) -> OtherRows {
    let mut others = OtherRows::default();
    for entity in entities {
        for index in Employee::INDEXES {
            let Some(IndexEntry { key, row }) = index.entry(entity).unwrap() else { continue };
            let place = place(index.schema(), &key);
            if index.schema().kind == IndexKind::List {
                others.lists.entry(place).or_default().insert(row.as_bytes().to_vec());
            } else {
                others.copies.insert(place, row.as_bytes().to_vec());
            }
        }
    }
    others
}

impl OtherRows {
    fn apply(&mut self, change: Change) {
        let place = place(change.index, &change.key);
        match change.kind {
            ChangeKind::Add(row) => {
                assert!(self.copies.insert(place, row.as_bytes().to_vec()).is_none(), "two copies, one key");
            }
            ChangeKind::Rewrite(row) => {
                assert!(self.copies.insert(place, row.as_bytes().to_vec()).is_some(), "nothing to rewrite");
            }
            ChangeKind::Remove => assert!(self.copies.remove(&place).is_some(), "nothing to remove"),
            ChangeKind::Join(member) => {
                let list = self.lists.entry(place).or_default();
                assert!(list.insert(member.as_bytes().to_vec()), "joined twice");
            }
            ChangeKind::Leave(member) => {
                let list = self.lists.get_mut(&place).expect("a list to leave");
                assert!(list.remove(member.as_bytes()), "no member to leave");
                if list.is_empty() {
                    self.lists.remove(&place);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn pat_intra_7_changes_turn_the_old_index_rows_into_the_new_ones(
        steps in prop::collection::vec((employee(), any::<bool>()), 1..20),
    ) {
        let mut entities: BTreeMap<EntityKey, Employee> = BTreeMap::new();
        let mut others = OtherRows::default();
        for (entity, is_delete) in steps {
            let key = entity.key_of().unwrap();
            // The test keeps the values of unique indexes distinct, because the store would refuse duplicates (PAT-INTRA-5).
            let taken = entities.values().any(|other| {
                (other.department == entity.department && other.email == entity.email || other.badge == entity.badge)
                    && other.key_of().unwrap() != key
            });
            if taken && !is_delete {
                continue;
            }
            let new = (!is_delete).then_some(&entity);
            for change in stored_changes((entities.get(&key), [None; 2]), (new, [None; 2])).unwrap() {
                others.apply(change);
            }
            match new {
                Some(new) => entities.insert(key, new.clone()),
                None => entities.remove(&key),
            };
            prop_assert_eq!(&others, &expected(entities.values()));
        }
    }

    #[test]
    fn unchanged_rows_are_not_written(entity in employee()) {
        let is_unchanged = |entity: Option<&Employee>| {
            stored_changes((entity, [None; 2]), (entity, [None; 2])).unwrap().is_empty()
        };
        prop_assert!(is_unchanged(Some(&entity)) && is_unchanged(None));
    }
}
