//! Whether a source's handle may write the holders of a relation: not beside a program of a newer design of theirs.

use table_core::Table;
use table_core::error::Result;
use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::table::Admission;

use crate::denormal::relation::Outgoing;

/// A relation of a source's handle.
#[derive(Clone, Debug)]
pub(super) struct Given<E: 'static, S> {
    pub(super) relation: &'static Outgoing<E>,
    sources: Table<E, S>,
    /// Of the table that the design of the holders names.
    usual: Option<Admission<S>>,
}

impl<E, S: TableStore + Clone> Given<E, S> {
    /// A relation beside a table of sources: nothing is asked where that was not opened.
    pub(super) fn of(relation: &'static Outgoing<E>, sources: &Table<E, S>) -> Self {
        let usual = TableName::new(relation.holders.table).ok();
        let usual = usual.map(|name| sources.admission(relation.holders, name));
        Self { relation, sources: sources.clone(), usual }
    }

    /// Whether holders in a table may be written at an instant.
    ///
    /// # Errors
    /// `LayoutMismatch` if a program of a newer design has opened it, and this one would not keep what that declares; those of the store.
    pub(super) async fn admit(&self, table: &TableName, now: u64) -> Result<()> {
        match &self.usual {
            Some(usual) if usual.table() == table => usual.admit(now).await,
            _ => self.sources.admission(self.relation.holders, table.clone()).admit(now).await,
        }
    }
}
