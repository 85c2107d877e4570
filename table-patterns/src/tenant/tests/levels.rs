//! Tests tenants consisting of all partitions with the same first key levels, with lists stored in blobs. An erasure must find the blobs of partitions with
//! long keys.

use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};
use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::{Entity, ErrorCode};

use crate::EntityStore;
use crate::index::ListBlobs;
use crate::tenant::Tenant;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant, region)]
#[row_key("ticket_", number)]
#[index_entity(ByTag, at_most = 1000, row_key("tag_", tag))]
struct Ticket {
    tenant: String,
    region: String,
    #[digits(6)]
    number: u32,
    tag: String,
}

/// Returns the number of blobs in a store.
fn blobs_in(store: &InMemory) -> usize {
    block_on(store.list(None).try_collect::<Vec<_>>()).unwrap().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_erasure_of_a_prefix_removes_exactly_the_blobs_of_its_partitions(
        tenants in prop::collection::btree_set("[a!]{0,2}|[AB]{15,18}|[\u{e9}b]{40,60}", 2..4),
        regions in prop::collection::btree_set("[e]{0,2}|[EU]{10,50}", 1..4),
    ) {
        let (store, blobs) = (Engine::in_memory(), Arc::new(InMemory::new()));
        let lists = ListBlobs::new(blobs.clone(), "lists").spill_above(0);
        let tickets = store.entities::<Ticket>().with_list_blobs(lists);
        let tickets = block_on(tickets.create_if_missing()).unwrap();
        for tenant in &tenants {
            for region in &regions {
                for number in 0..2 {
                    let (tenant, region, tag) = (tenant.clone(), region.clone(), "red".to_owned());
                    block_on(tickets.insert(&Ticket { tenant, region, number, tag })).unwrap();
                }
            }
        }
        // Each list is written twice, and each write leaves a blob.
        let mut left = tenants.len() * regions.len() * 2;
        prop_assert_eq!(blobs_in(&blobs), left);
        for tenant in &tenants {
            let data = Tenant::new().with_entities(&tickets, Ticket::within(tenant)).unwrap();
            let theirs = u64::try_from(regions.len() * 2).unwrap();
            prop_assert_eq!(block_on(data.count()).unwrap().blobs, theirs);
            prop_assert_eq!(block_on(data.erase()).unwrap().blobs, theirs);
            left -= regions.len() * 2;
            prop_assert_eq!(blobs_in(&blobs), left);
        }
    }
}

#[test]
fn an_erasure_never_ignores_blobs_whose_partition_is_unknown() {
    let (store, blobs) = (Engine::in_memory(), Arc::new(InMemory::new()));
    let lists = ListBlobs::new(blobs.clone(), "lists").spill_above(0);
    let tickets = store.entities::<Ticket>().with_list_blobs(lists);
    let tickets = block_on(tickets.create_if_missing()).unwrap();
    let tenant = "\u{e9}".repeat(60);
    for number in 0..2 {
        let (tenant, region, tag) = (tenant.clone(), "EU".to_owned(), "red".to_owned());
        block_on(tickets.insert(&Ticket { tenant, region, number, tag })).unwrap();
    }
    let data = Tenant::new().with_entities(&tickets, Ticket::within(&tenant)).unwrap();
    let paths: Vec<_> = block_on(blobs.list(None).try_collect::<Vec<_>>()).unwrap();
    let content = |path| block_on(async { blobs.get(path).await.unwrap().bytes().await.unwrap() });
    let contents: Vec<_> = paths.iter().map(|meta| content(&meta.location)).collect();
    for (damaged, code) in [("", ErrorCode::Corrupted), ("tables list 9\n", ErrorCode::FormatTooNew)] {
        for meta in &paths {
            block_on(blobs.put(&meta.location, damaged.into())).unwrap();
        }
        let refused = block_on(data.remaining()).unwrap_err();
        assert_eq!(refused.code(), code, "{refused}");
        assert!(refused.message().contains("may belong to the tenant"), "{refused}");
    }
    // One readable blob is enough to identify the partition of all blobs in the folder.
    block_on(blobs.put(&paths[1].location, contents[1].clone().into())).unwrap();
    assert_eq!(block_on(data.count()).unwrap().blobs, 2);
    block_on(blobs.put(&paths[0].location, contents[0].clone().into())).unwrap();
    block_on(data.erase()).unwrap();
    assert_eq!(blobs_in(&blobs), 0);
}
