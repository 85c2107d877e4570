//! Deletes everything that a program has created in an account, even after an error or a panic.

use std::error::Error;
use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;
use table_core::limits::PAGE_ENTITIES;
use table_core::{Result, TableStore};

use crate::store::Store;

type Failed = Box<dyn Error>;

/// Runs a program on an empty store. Then deletes all tables, queues and blobs in the store, even after an error or a panic.
///
/// Returns the outcome of the program. Also returns the number of deleted tables, or the deletion error.
///
/// # Panics
/// Panics, after the deletions, if the program panics.
pub async fn after<T>(store: &Store, program: impl Future<Output = T>) -> (T, Result<usize>) {
    let outcome = AssertUnwindSafe(program).catch_unwind().await;
    let emptied = store.delete_queues_and_blobs().await;
    let deleted = delete_tables(store.unmetered()).await;
    let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
    (outcome, deleted.and_then(|tables| emptied.map(|()| tables)))
}

/// Runs a program on an empty store. Then deletes all tables, queues and blobs in the store, even after an error or a panic, and prints the result.
///
/// # Errors
/// The error of the program. If the program succeeds, the deletion error.
///
/// # Panics
/// Panics, after the deletions, if the program panics.
pub async fn run_and_delete(
    store: &Store,
    program: impl Future<Output = std::result::Result<(), Failed>>,
) -> std::result::Result<(), Failed> {
    let (outcome, deleted) = after(store, program).await;
    match deleted {
        Ok(tables) => println!("\n{tables} tables deleted"),
        Err(error) => {
            println!("\nTables, queues or blobs of this run could not be deleted: {error}");
            return outcome.and(Err(error.into()));
        }
    }
    outcome
}

/// Deletes all tables in a store, and returns the number of deleted tables. A table that another program has already deleted is not counted.
///
/// # Errors
/// The first deletion error. All other tables are still deleted if possible. If the tables cannot be listed, the listing error.
pub async fn delete_tables(store: &impl TableStore) -> Result<usize> {
    let (mut deleted, mut from, mut first_error) = (0, None, None);
    loop {
        // The `top` capability does not limit lists of tables (TOP-2).
        let page = store.list_tables("", from.as_deref(), PAGE_ENTITIES).await?;
        for table in &page.names {
            match store.delete_table(table).await {
                Ok(()) => deleted += 1,
                Err(error) if error.is_not_found() => {}
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        from = page.next;
        if from.is_none() {
            return first_error.map_or(Ok(deleted), Err);
        }
    }
}
