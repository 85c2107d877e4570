use std::sync::Arc;

use object_store::memory::InMemory;
use pollster::block_on;
use table_core::name::TableName;
use table_core::{Engine, Error, ErrorCode};

use super::*;
use crate::blob::{BlobKind, BlobStore};
use crate::tests::faults::{Fault, FaultyStore};

static LISTS: BlobKind =
    BlobKind { folder: "lists", row_in: Some(|_| Err(Error::new(ErrorCode::Corrupted, "no list"))) };

fn folder() -> BlobFolder {
    let blobs = BlobStore::new(&LISTS, Arc::new(InMemory::new()), "lists");
    blobs.folder(&TableName::new("People").unwrap()).unwrap()
}

#[test]
fn a_blob_that_another_collector_has_removed_is_not_named() {
    let orphans = Orphans { folder: folder(), store: &Engine::in_memory(), now: &|| 0 };
    assert!(!block_on(orphans.is_named(&Path::from("lists/removed"), None)).unwrap());
}

#[test]
fn pat_large_2_a_list_that_cannot_be_read_keeps_its_blobs_but_an_outage_ends_the_collection() {
    let store = FaultyStore::new(Engine::in_memory());
    let orphans = Orphans { folder: folder(), store: &store, now: &|| 0 };
    let is_named = |code| {
        store.script(move |_, _| Fault::Before(code));
        let key = EntityKey::new("Jones", "all").unwrap();
        block_on(orphans.is_named(&Path::from("lists/people/jones/all/1_2_3"), Some(&key)))
    };
    for code in [ErrorCode::EntityMismatch, ErrorCode::Corrupted] {
        assert!(is_named(code).unwrap(), "{code:?}");
    }
    for code in [ErrorCode::InternalError, ErrorCode::TableNotFound] {
        assert_eq!(is_named(code).unwrap_err().code(), code);
    }
}
