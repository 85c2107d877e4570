//! Whether entities of a design may be written in a table.

use std::sync::Arc;

use crate::error::Result;
use crate::name::TableName;
use crate::store::TableStore;
use crate::table::layout::Standing;

/// Asks for the stored design of a table's entities, as often as a handle of theirs does: [`Table::admission`](crate::Table::admission).
#[derive(Clone, Debug)]
pub struct Admission<S> {
    pub(super) store: S,
    pub(super) table: TableName,
    pub(super) standing: Option<Arc<Standing>>,
}

impl<S: TableStore> Admission<S> {
    /// The table.
    #[must_use]
    pub const fn table(&self) -> &TableName {
        &self.table
    }

    /// Whether they may be written at an instant, in ticks.
    ///
    /// # Errors
    /// `LayoutMismatch` if a program of a newer design has opened the table, and this one would not keep what that declares; those of the store.
    pub async fn admit(&self, now: u64) -> Result<()> {
        match &self.standing {
            Some(standing) => standing.admit(&self.store, &self.table, now).await,
            None => Ok(()),
        }
    }
}
