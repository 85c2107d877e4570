//! The operations of a tenant on a registered entity type. Each type identifies its own rows, and the remote rows derived from them.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::Operation;
use table_core::query::TextRange;
use table_core::row::Row;
use table_core::table::{SchemaRecord, SchemaWatch};
use table_core::{Error, Result};

use crate::index::EntriesLeft;
use crate::outbox::Step;
use crate::tenant::lacking::Lacking;
use crate::tenant::type_info::TypeInfo;

/// An entity type registered for a tenant.
pub(super) trait Member: TypeInfo + Send + Sync {
    /// Returns `true` if the key belongs to an index row of this type in another partition or table.
    fn has_remote_row(&self, _: &TableName, _: &EntityKey) -> bool {
        false
    }

    /// Returns the stored schema of this type in a table; `None` if no schema is stored.
    fn schema_record<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<Option<SchemaRecord>>>;

    /// Creates the table with its stored schema if it is missing. Returns this type with the opened handle.
    fn open<'a>(&'a self, table: &'a TableName) -> BoxFuture<'a, Result<Arc<dyn Member>>>;

    /// Returns a check of whether this program may write rows of this type. A handle that has not been opened checks nothing.
    fn schema_watch(&self) -> SchemaWatch {
        SchemaWatch::default()
    }

    /// Records in the stored schema that imported rows may contain values with earlier types.
    fn note_pending<'a>(&'a self, _: &'a Lacking) -> BoxFuture<'a, Result<()>> {
        future::ready(Ok(())).boxed()
    }

    /// Derives the index rows in the given partitions that may be missing from an export. Returns the first error that concerns a single entity.
    fn derive_within<'a>(
        &'a self,
        _: &'a [TextRange],
        _: &'a Lacking,
    ) -> BoxFuture<'a, Result<Option<Error>>> {
        future::ready(Ok(None)).boxed()
    }

    /// Returns `true` if entities of this type have rows in other partitions or tables.
    fn has_elsewhere(&self) -> bool {
        false
    }

    /// Returns `true` if entities of this type hold copies of other entities. The partitions of these entities contain references to the holders.
    fn holds_copies(&self) -> bool {
        false
    }

    /// Checks that this program is aware of all rows in other partitions or tables that the stored schema declares.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program is unaware of some of these rows; any error from the store.
    fn check_known(&self) -> BoxFuture<'_, Result<()>> {
        future::ready(Ok(())).boxed()
    }

    /// Writes the remote rows derived from a stored entity. Returns the number of written rows.
    fn settle<'a>(&'a self, _: &'a EntityKey, _: &'a Row) -> BoxFuture<'a, Result<u64>> {
        no_rows()
    }

    /// Removes the remote rows derived from an entity. Returns the number of removed rows.
    fn erase<'a>(&'a self, _: &'a EntityKey, _: &'a Row) -> BoxFuture<'a, Result<u64>> {
        no_rows()
    }

    /// Removes the remote rows that a recorded step for this type may have written. Returns the number of removed rows. Ignores steps for entities outside the
    /// record's partition, because another program may have inserted a record that names any entity.
    fn erase_recorded<'a>(&'a self, _: &'a Step, _: &'a str) -> BoxFuture<'a, Result<u64>> {
        no_rows()
    }

    /// Clears the copies of a deleted entity in the entities that hold them. Returns the number of entities changed.
    fn clear_copies<'a>(&'a self, _: &'a EntityKey) -> BoxFuture<'a, Result<u64>> {
        no_rows()
    }

    /// Counts the remote index rows with entries for entities in the given partitions, and the rows that cannot be read. Performs a full scan of every remote
    /// index.
    fn leftovers<'a>(&'a self, _: &'a [TextRange]) -> BoxFuture<'a, Result<EntriesLeft>> {
        future::ready(Ok(EntriesLeft::default())).boxed()
    }

    /// Removes the entries for entities in the given partitions from remote indexes, even if the entities no longer exist. Returns the number of removed
    /// entries. Performs a full scan of every remote index.
    fn erase_leftovers<'a>(&'a self, _: &'a [TextRange]) -> BoxFuture<'a, Result<u64>> {
        no_rows()
    }

    /// Seals recorded steps with this program's outbox key. Returns `None` if the handle has no outbox.
    fn seal<'a>(
        &'a self,
        _: &'a TableName,
        _: &'a PartitionKey,
        _: Vec<Operation>,
    ) -> Option<BoxFuture<'a, Result<Vec<Operation>>>> {
        None
    }

    /// Returns `true` if a record has a valid seal from this program's outbox. Returns `None` if the handle has no outbox.
    fn is_sealed<'a>(
        &'a self,
        _: &'a TableName,
        _: &'a PartitionKey,
        _: &'a Operation,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

fn no_rows<'a>() -> BoxFuture<'a, Result<u64>> {
    future::ready(Ok(0)).boxed()
}
