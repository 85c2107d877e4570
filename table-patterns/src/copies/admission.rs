//! Admission of writes to holders: a write is refused if a newer version of the program has extended their schema.

use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::{Result, Table};

use crate::copies::relation::Outgoing;

/// A relation as seen from a source's handle. It checks whether the relation's holders may be written.
#[derive(Clone, Debug)]
pub(super) struct Given<E: 'static, S> {
    pub(super) relation: &'static Outgoing<E>,
    sources: Table<E, S>,
}

impl<E, S: TableStore + Clone> Given<E, S> {
    /// Creates the relation for a table of sources. If that table was not opened, nothing is checked.
    pub(super) fn of(relation: &'static Outgoing<E>, sources: &Table<E, S>) -> Self {
        Self { relation, sources: sources.clone() }
    }

    /// Checks that holders in a table may be written.
    ///
    /// # Errors
    /// `SchemaMismatch` if a newer version of the program has opened the table with a schema that this one would not maintain; any error from the store.
    pub(super) async fn admit(&self, table: &TableName, now: u64) -> Result<()> {
        self.sources.admission(self.relation.holders, table.clone()).admit(now).await
    }
}
