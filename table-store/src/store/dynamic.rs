//! `DynTableStore`: a type-erased table store.

use std::any::Any;
use std::fmt::{self, Debug, Display};
use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::error::Result;
use crate::key::EntityKey;
use crate::name::TableName;
use crate::query::{Continuation, Page, Query, Select};
use crate::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use crate::transaction::Transaction;

/// Any [`TableStore`], chosen at run time. Clones share the store. Each call costs one extra allocation, for the boxed future.
///
/// ```
/// use table_core::{DynTableStore, TableStoreExt, embedded::Engine};
///
/// // One type for every backend that a configuration may name.
/// let store = DynTableStore::new(Engine::in_memory());
/// let table = store.untyped("Employee")?;
/// assert_eq!(table.name()?.as_str(), "Employee");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct DynTableStore(Arc<dyn ErasedStore>);

impl DynTableStore {
    /// Wraps a store of any type.
    #[must_use]
    pub fn new(store: impl TableStore + 'static) -> Self {
        Self(Arc::new(store))
    }
}

impl Debug for DynTableStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_debug(f)
    }
}

impl Display for DynTableStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_display(f)
    }
}

/// The dyn-compatible version of [`TableStore`], with boxed futures.
trait ErasedStore: Send + Sync {
    fn fmt_debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn fmt_display(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn capabilities(&self) -> &Capabilities;
    fn attached(&self) -> Option<&(dyn Any + Send + Sync)>;
    fn create_table<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<()>>;
    fn delete_table<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<()>>;
    fn list_tables<'a>(
        &'a self,
        prefix: &'a str,
        from: Option<&'a str>,
        top: usize,
    ) -> BoxFuture<'a, Result<TablePage>>;
    fn get<'a>(
        &'a self,
        table: &'a TableName,
        key: &'a EntityKey,
        select: &'a Select,
    ) -> BoxFuture<'a, Result<Option<StoredRow>>>;
    fn query<'a>(
        &'a self,
        table: &'a TableName,
        query: &'a Query,
        from: Option<&'a Continuation>,
    ) -> BoxFuture<'a, Result<Page>>;
    fn submit<'a>(
        &'a self,
        table: &'a TableName,
        transaction: Transaction,
    ) -> BoxFuture<'a, Result<Committed>>;
}

impl<S: TableStore> ErasedStore for S {
    fn fmt_debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self, f)
    }

    fn fmt_display(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }

    fn capabilities(&self) -> &Capabilities {
        TableStore::capabilities(self)
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        TableStore::attached(self)
    }

    fn create_table<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<()>> {
        Box::pin(TableStore::create_table(self, table))
    }

    fn delete_table<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<()>> {
        Box::pin(TableStore::delete_table(self, table))
    }

    fn list_tables<'a>(
        &'a self,
        prefix: &'a str,
        from: Option<&'a str>,
        top: usize,
    ) -> BoxFuture<'a, Result<TablePage>> {
        Box::pin(TableStore::list_tables(self, prefix, from, top))
    }

    fn get<'a>(
        &'a self,
        table: &'a TableName,
        key: &'a EntityKey,
        select: &'a Select,
    ) -> BoxFuture<'a, Result<Option<StoredRow>>> {
        Box::pin(TableStore::get(self, table, key, select))
    }

    fn query<'a>(
        &'a self,
        table: &'a TableName,
        query: &'a Query,
        from: Option<&'a Continuation>,
    ) -> BoxFuture<'a, Result<Page>> {
        Box::pin(TableStore::query(self, table, query, from))
    }

    fn submit<'a>(
        &'a self,
        table: &'a TableName,
        transaction: Transaction,
    ) -> BoxFuture<'a, Result<Committed>> {
        Box::pin(TableStore::submit(self, table, transaction))
    }
}

/// Implements [`TableStore`] by delegating to `$inner`.
macro_rules! forward {
    ([$($generics:tt)*] $type:ty, $this:ident => $inner:expr) => {
        impl<$($generics)*> TableStore for $type {
            fn capabilities(&self) -> &Capabilities {
                let $this = self;
                $inner.capabilities()
            }

            fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
                let $this = self;
                $inner.attached()
            }

            async fn create_table(&self, table: &TableName) -> Result<()> {
                let $this = self;
                $inner.create_table(table).await
            }

            async fn delete_table(&self, table: &TableName) -> Result<()> {
                let $this = self;
                $inner.delete_table(table).await
            }

            async fn list_tables(
                &self,
                prefix: &str,
                from: Option<&str>,
                top: usize,
            ) -> Result<TablePage> {
                let $this = self;
                $inner.list_tables(prefix, from, top).await
            }

            async fn get(
                &self,
                table: &TableName,
                key: &EntityKey,
                select: &Select,
            ) -> Result<Option<StoredRow>> {
                let $this = self;
                $inner.get(table, key, select).await
            }

            async fn query(
                &self,
                table: &TableName,
                query: &Query,
                from: Option<&Continuation>,
            ) -> Result<Page> {
                let $this = self;
                $inner.query(table, query, from).await
            }

            async fn submit(
                &self,
                table: &TableName,
                transaction: Transaction,
            ) -> Result<Committed> {
                let $this = self;
                $inner.submit(table, transaction).await
            }
        }
    };
}

forward!([] DynTableStore, this => this.0);
forward!([S: TableStore] &S, this => (**this));
forward!([S: TableStore] Arc<S>, this => (**this));
