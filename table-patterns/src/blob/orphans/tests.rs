use std::sync::Arc;

use object_store::memory::InMemory;
use pollster::block_on;
use table_core::{Engine, ErrorCode};

use super::*;
use crate::tests::faults::{Fault, FaultyStore};

#[test]
fn a_blob_that_another_collector_has_removed_is_not_named() {
    let (store, table) = (Engine::in_memory(), TableName::new("People").unwrap());
    let blobs = ListBlobs::new(Arc::new(InMemory::new()), "lists");
    let named = Named { store: &store, table: &table, blobs: &blobs };
    assert!(!block_on(named.is_named(&Path::from("lists/removed"), &None)).unwrap());
}

#[test]
fn pat_large_2_a_list_that_cannot_be_read_keeps_its_blobs_but_an_outage_ends_the_collection() {
    let (store, table) = (FaultyStore::new(Engine::in_memory()), TableName::new("People").unwrap());
    let blobs = ListBlobs::new(Arc::new(InMemory::new()), "lists");
    let named = Named { store: &store, table: &table, blobs: &blobs };
    let is_named = |code| {
        store.script(move |_, _| Fault::Before(code));
        let key = EntityKey::new("Jones", "all").unwrap();
        block_on(named.is_named(&Path::from("lists/people/jones/all/1_2_3"), &Some(key)))
    };
    for code in [ErrorCode::EntityMismatch, ErrorCode::Corrupted] {
        assert!(is_named(code).unwrap(), "{code:?}");
    }
    for code in [ErrorCode::InternalError, ErrorCode::TableNotFound] {
        assert_eq!(is_named(code).unwrap_err().code(), code);
    }
}
