//! Whether entities of a design may be written in a table.

use std::sync::Arc;

use crate::error::Result;
use crate::name::TableName;
use crate::store::TableStore;
use crate::table::layout::Standing;

/// Asks for the stored design of a table's entities, as often as a handle of theirs does: [`Table::admission`](crate::Table::admission).
///
/// ```
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
/// tickets.admit(639_307_584_000_000_000).await?; // no design of `Ticket` is stored, so none is newer
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
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
