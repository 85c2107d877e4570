//! Tests deletes of a parent with a part that the store cannot represent.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::selection::Selection;
use table_core::{Entity, ErrorCode, TableStoreExt};

use super::{Employee, Marks, Review, ada, key, review};
use crate::EntityStore;
use crate::participant::WithParticipants;
use crate::tests::faults::FaultyStore;

/// Tests that no part remains without its parent. Participants read the properties of the parts, so pages omit the part.
#[test]
fn pat_ck_3_a_part_that_cannot_be_read_never_outlives_its_owner() {
    for (has_participant, year) in [false, true].into_iter().flat_map(|has| [0, 1, 4].map(|year| (has, year)))
    {
        let faulty = FaultyStore::new(Engine::in_memory()).pages_of(3);
        let store = WithParticipants::from(faulty.clone());
        let store = if has_participant { store.with_participant::<Review>(Marks) } else { store };
        let employees = block_on(store.entities::<Employee>().create_if_missing()).unwrap();
        block_on(employees.insert(&ada())).unwrap();
        for year in 0..5 {
            block_on(employees.insert_part(key(), &review(year))).unwrap();
        }
        let rows = || {
            let all = faulty.inner().untyped("Company").unwrap().query(Selection::partition("Sales"));
            block_on(all.collect()).unwrap().len()
        };
        let all = rows();
        let strange = review(year).key_of().unwrap();
        faulty.misread(("Rating", ErrorCode::EntityMismatch), {
            let strange = strange.clone();
            move |_, of| *of == strange
        });
        match block_on(employees.delete_with_parts(key())) {
            Ok(_) => assert!(!has_participant && rows() == 0, "{year}: {} rows", rows()),
            Err(error) => {
                assert!(has_participant, "{year}: {error}");
                let at = (strange.partition_key.as_str(), strange.row_key.as_str());
                assert_eq!((error.code(), error.key()), (ErrorCode::EntityMismatch, Some(at)));
                assert_eq!(rows(), all);
                faulty.heal();
                block_on(employees.delete_with_parts(key())).unwrap();
                assert_eq!(rows(), 0);
            }
        }
    }
}

/// Tests a part whose key the store does not return, so that only its number is known.
#[test]
fn pat_ck_3_a_part_whose_key_is_unknown_never_outlives_its_owner() {
    for year in [0, 1, 4] {
        let store = FaultyStore::new(Engine::in_memory()).pages_of(3);
        let employees = block_on(store.entities::<Employee>().create_if_missing()).unwrap();
        block_on(employees.insert(&ada())).unwrap();
        for year in 0..5 {
            block_on(employees.insert_part(key(), &review(year))).unwrap();
        }
        let strange = review(year).key_of().unwrap();
        store.misread(("RowKey", ErrorCode::EntityMismatch), move |_, of| *of == strange);
        let error = block_on(employees.delete_with_parts(key())).unwrap_err();
        let owner = ada().key_of().unwrap();
        let at = (owner.partition_key.as_str(), owner.row_key.as_str());
        assert_eq!((error.code(), error.key()), (ErrorCode::EntityMismatch, Some(at)), "{year}: {error}");
        store.heal();
        assert_eq!(super::rows(&employees).len(), 6, "{year}");
        block_on(employees.delete_with_parts(key())).unwrap();
        assert_eq!(super::rows(&employees).len(), 0, "{year}");
    }
}
