//! A check that a program may write entities with a given schema to a table.

use std::sync::Arc;

use table_store::Result;

use crate::name::TableName;
use crate::runtime::Runtime;
use crate::store::{TableStore, WriteLease};
use crate::table::layout::SchemaTracker;

/// A check that entities with a given schema may be written. `Table::admission` creates it. It queries the store as often as a handle for these entities would.
///
/// ```
/// use table_core::runtime::Runtime;
/// use table_core::{Engine, Entity, TableName, TableStoreExt};
/// # #[derive(Entity)]
/// # #[entity(table = "Desk")]
/// # #[partition_key(tenant)]
/// # #[row_key("agent_", id)]
/// # struct Agent { tenant: String, id: u32 }
/// # #[derive(Entity)]
/// # #[entity(table = "Desk")]
/// # #[partition_key(tenant)]
/// # #[row_key("ticket_", number)]
/// # struct Ticket { tenant: String, number: u32 }
///
/// # pollster::block_on(async {
/// let agents = Engine::in_memory().table::<Agent>().create_if_missing().await?;
/// let tickets = agents.admission(Ticket::SCHEMA, TableName::new("Desk")?);
/// tickets.admit(&Runtime::new()).await?; // no schema of `Ticket` is stored, so none is newer
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Admission<S> {
    pub(super) store: S,
    pub(super) table: TableName,
    pub(super) tracker: Option<Arc<SchemaTracker>>,
}

impl<S: TableStore> Admission<S> {
    /// Returns the name of the table whose writes are checked.
    #[must_use]
    pub const fn table(&self) -> &TableName {
        &self.table
    }

    /// Checks that the entities may be written. Returns the lease within which their transaction may be sent, or `None` if it may be sent at any time.
    ///
    /// # Errors
    /// `SchemaMismatch` if a program with a newer schema has opened the table, and this program does not maintain everything that the newer schema declares;
    /// any error from the store.
    pub async fn admit(&self, runtime: &Runtime) -> Result<Option<WriteLease>> {
        match &self.tracker {
            Some(tracker) => {
                let lease = tracker.admit((&self.store, runtime), &self.table).await?;
                Ok(tracker.is_shared().then_some(lease))
            }
            None => Ok(None),
        }
    }
}
