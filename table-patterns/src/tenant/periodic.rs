//! Entity types with one table per period, as part of a tenant.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use table_core::Result;
use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::table::SchemaRecord;

use crate::periods::{Period, PeriodTables, Periodic};
use crate::tenant::member::Member;
use crate::tenant::type_info::OfType;
use crate::tenant::typed::Typed;

/// The tables of an entity type with one table per period.
pub(super) trait PeriodSource: Send + Sync {
    /// Returns the name of the tables without the period.
    fn base(&self) -> Result<TableName>;

    /// Returns the length of the period covered by one table.
    fn period(&self) -> Period;

    /// Returns the names of the type's existing tables.
    fn existing(&self) -> BoxFuture<'_, Result<Vec<TableName>>>;

    /// Returns `true` if `table` is one of the type's tables.
    fn has(&self, table: &TableName) -> bool;
}

/// An entity type with one table per period, registered for a tenant.
pub(super) struct InPeriods<E, S>(pub(super) PeriodTables<E, S>);

impl<E: Periodic, S: TableStore + Clone + 'static> PeriodSource for InPeriods<E, S> {
    fn base(&self) -> Result<TableName> {
        TableName::new(E::SCHEMA.table)
    }

    fn period(&self) -> Period {
        E::PERIOD
    }

    fn existing(&self) -> BoxFuture<'_, Result<Vec<TableName>>> {
        async { Ok(self.0.tables().await?.into_iter().map(|(table, _)| table).collect()) }.boxed()
    }

    fn has(&self, table: &TableName) -> bool {
        PeriodTables::<E, S>::start_of(table).is_some()
    }
}

impl<E: Periodic, S> OfType for InPeriods<E, S> {
    type Entity = E;
}

impl<E: Periodic, S: TableStore + Clone + 'static> Member for InPeriods<E, S> {
    /// Creates the table of a period, even if the period has expired: imported rows from expired periods are stored until their tables are
    /// dropped.
    fn open<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<Arc<dyn Member>>> {
        async move {
            let opened: Arc<dyn Member> = Arc::new(Typed(self.0.open(table).await?));
            Ok(opened)
        }
        .boxed()
    }

    fn schema_record<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<Option<SchemaRecord>>> {
        async move { self.0.handle_to(table).table().schema_record().await }.boxed()
    }
}
