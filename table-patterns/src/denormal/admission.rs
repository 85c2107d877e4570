//! Whether a source's handle may write the holders of a relation: not beside a program of a newer design of theirs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::Table;
use table_core::error::Result;
use table_core::name::TableName;
use table_core::store::TableStore;

use crate::denormal::Denormal;
use crate::denormal::relation::Outgoing;

type Ask = dyn Fn(&TableName, u64) -> BoxFuture<'static, Result<()>> + Send + Sync;

/// A relation of a source's handle.
pub(super) struct Given<E, S> {
    pub(super) relation: Outgoing<E>,
    of: fn(&Table<E, S>) -> Admission,
    admission: Admission,
}

impl<E, S: TableStore> Given<E, S> {
    pub(super) fn of<D: Denormal<Source = E>>(sources: &Table<E, S>) -> Self
    where
        S: Clone + 'static,
    {
        let of = Admission::of::<D, S>;
        Self { relation: Outgoing::of::<D>(), of, admission: of(sources) }
    }

    /// The same beside a table of sources that was opened since.
    pub(super) fn beside(&self, sources: &Table<E, S>) -> Self {
        Self { admission: (self.of)(sources), ..self.clone() }
    }

    /// Whether holders in a table may be written at an instant.
    ///
    /// # Errors
    /// `LayoutMismatch` if a program of a newer design has opened it, and this one would not keep what that declares; those of the store.
    pub(super) async fn admit(&self, table: &TableName, now: u64) -> Result<()> {
        (self.admission.0)(table, now).await
    }
}

impl<E, S> Clone for Given<E, S> {
    fn clone(&self) -> Self {
        Self { relation: self.relation.clone(), of: self.of, admission: self.admission.clone() }
    }
}

/// Asks for the stored design of the holders of one relation, as often as a handle of theirs does.
#[derive(Clone)]
struct Admission(Arc<Ask>);

impl Admission {
    /// The admission of holders beside a table of sources: nothing is asked where that was not opened.
    fn of<D: Denormal, S: TableStore + Clone + 'static>(sources: &Table<D::Source, S>) -> Self {
        let sources = sources.clone();
        let usual = Table::<D::Holder, S>::of_design(sources.store().clone()).name().cloned();
        let usual = usual.map(|name| sources.peer::<D::Holder>(name));
        let ask = move |table: &TableName, now: u64| -> BoxFuture<'static, Result<()>> {
            let is_usual = |usual: &&Table<D::Holder, S>| usual.name().is_ok_and(|name| name == table);
            let known = usual.as_ref().ok().filter(is_usual).cloned();
            let holders = known.unwrap_or_else(|| sources.peer(table.clone()));
            Box::pin(async move { holders.admit(now).await })
        };
        Self(Arc::new(ask))
    }
}
