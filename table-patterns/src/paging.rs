//! Reads all rows of a query page by page.

use table_core::Result;
use table_core::name::TableName;
use table_core::query::{EntityRef, Query};
use table_core::store::TableStore;

/// Calls a function with each row of a query. Stops at the first error.
pub(crate) async fn each_row<S: TableStore>(
    store: &S,
    table: &TableName,
    query: &Query,
    mut take: impl FnMut(EntityRef<'_>) -> Result<()> + Send,
) -> Result<()> {
    let mut from = None;
    loop {
        let page = store.query(table, query, from.as_ref()).await?;
        page.rows.iter().try_for_each(&mut take)?;
        from = page.continuation;
        if from.is_none() {
            return Ok(());
        }
    }
}
