//! Whether a source's handle may write the holders of a relation: not beside a program of a newer design of theirs.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::Table;
use table_core::error::Result;
use table_core::name::TableName;
use table_core::store::TableStore;

use crate::denormal::Denormal;

type Ask = dyn Fn(&TableName, u64) -> BoxFuture<'static, Result<()>> + Send + Sync;

/// Asks for the stored design of the holders of one relation, as often as a handle of theirs does.
#[derive(Clone)]
pub(super) struct Admission {
    pub(super) relation: &'static str,
    ask: Arc<Ask>,
}

impl Admission {
    /// The admission of holders beside a table of sources: nothing is asked where that was not opened.
    pub(super) fn of<D: Denormal, S: TableStore + Clone + 'static>(sources: &Table<D::Source, S>) -> Self {
        let sources = sources.clone();
        let usual = Table::<D::Holder, S>::of_design(sources.store().clone()).name().cloned();
        let usual = usual.map(|name| sources.peer::<D::Holder>(name));
        let ask = move |table: &TableName, now: u64| -> BoxFuture<'static, Result<()>> {
            let is_usual = |usual: &&Table<D::Holder, S>| usual.name().is_ok_and(|name| name == table);
            let known = usual.as_ref().ok().filter(is_usual).cloned();
            let holders = known.unwrap_or_else(|| sources.peer(table.clone()));
            Box::pin(async move { holders.admit(now).await })
        };
        Self { relation: D::NAME, ask: Arc::new(ask) }
    }

    /// Whether holders in a table may be written at an instant.
    ///
    /// # Errors
    /// `LayoutMismatch` if a program of a newer design has opened it, and this one would not keep what that declares; those of the store.
    pub(super) async fn admit(&self, table: &TableName, now: u64) -> Result<()> {
        (self.ask)(table, now).await
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission").field("relation", &self.relation).finish_non_exhaustive()
    }
}
