//! Checks that this program may write a holder (an entity that holds copies) through its source's handle. A write is refused if a newer program version has
//! extended the holder's schema.

use table_core::name::TableName;
use table_core::runtime::Runtime;
use table_core::store::TableStore;
use table_core::{Result, Table};

use crate::copies::relation::Outgoing;

/// Checks whether this program may write a relation's holders through the handle of the source (the copied entity).
#[derive(Clone, Debug)]
pub(super) struct Given<E: 'static, S> {
    pub(super) relation: &'static Outgoing<E>,
    sources: Table<E, S>,
}

impl<E, S: TableStore + Clone> Given<E, S> {
    /// Creates the check for a relation, given the table of its sources. If that table has not been opened, nothing is checked.
    pub(super) fn of(relation: &'static Outgoing<E>, sources: &Table<E, S>) -> Self {
        Self { relation, sources: sources.clone() }
    }

    /// Checks that this program may write holders in `table`.
    ///
    /// # Errors
    /// `SchemaMismatch` if a newer version of the program has opened the table with a schema this program would not maintain; any error from the store.
    pub(super) async fn admit(&self, table: &TableName, runtime: &Runtime) -> Result<()> {
        self.sources.admission(self.relation.holders, table.clone()).admit(runtime).await.map(drop)
    }
}
