//! Tests deletes of a parent with about as many parts as a transaction can delete, or many more.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::selection::Selection;
use table_core::testing::LimitedStore;
use table_core::{ErrorCode, TableStoreExt};

use super::{Employee, Review, ada, key, review};
use crate::EntityStore;
use crate::tests::faults::FaultyStore;

/// The number of rows in a page.
const PAGE: usize = 10;

/// Returns the outcome of a delete, the number of rows left in the table, and the number of rows read.
fn delete(is_ordered: bool, has_owner: bool, parts: u16) -> (Result<usize, ErrorCode>, usize, usize) {
    let engine = LimitedStore::new(Engine::in_memory(), |capabilities| {
        (capabilities.ordered, capabilities.checks) = (is_ordered, false);
    });
    let store = FaultyStore::new(if is_ordered { engine } else { engine.shuffled(PAGE) }).pages_of(PAGE);
    block_on(async {
        let employees = store.entities::<Employee>().create_if_missing().await.unwrap();
        if has_owner {
            employees.insert(&ada()).await.unwrap();
        }
        let reviews = store.entities::<Review>();
        for year in 0..parts {
            reviews.insert(&review(year)).await.unwrap();
        }
        store.heal();
        let deleted = employees.delete_with_parts(key()).await.map_err(|error| error.code());
        let read = store.rows_read();
        let rows = store.untyped("Company").unwrap().query(Selection::partition("Sales"));
        (deleted, rows.collect().await.unwrap().len(), read)
    })
}

#[test]
fn egt_2_a_delete_of_too_many_parts_reads_no_more_than_a_transaction_can_delete() {
    for is_ordered in [true, false] {
        for parts in [0, 98, 99, 100, 101, 500] {
            let (deleted, left, read) = delete(is_ordered, true, parts);
            let rows = usize::from(parts) + 1;
            if rows <= 100 {
                assert_eq!((deleted, left, read), (Ok(rows), 0, rows), "ordered: {is_ordered}");
            } else {
                assert_eq!((deleted, left), (Err(ErrorCode::InvalidInput), rows));
                assert!(read <= 100 + PAGE, "{read} of {rows} rows read, ordered: {is_ordered}");
            }
        }
    }
}

#[test]
fn egt_2_a_delete_of_many_parts_without_their_owner_reads_at_most_one_page() {
    for is_ordered in [true, false] {
        for parts in [0, 1, 500] {
            let (deleted, left, read) = delete(is_ordered, false, parts);
            assert_eq!((deleted, left), (Err(ErrorCode::ResourceNotFound), parts.into()));
            assert!(read <= PAGE, "{read} rows read, ordered: {is_ordered}");
        }
    }
}
