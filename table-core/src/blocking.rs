//! Blocking calls for programs without a runtime.
//!
//! Not for use inside async code, where it would hold up the thread of others.
//!
//! ```
//! use table_core::{Selection, TableEntity, TableStoreExt, embedded::Engine};
//!
//! let table = Engine::in_memory().blocking().untyped("Employee")?.create_if_missing()?;
//! table.insert(&TableEntity::new("Sales", "000223")?.with("Age", 36))?;
//! assert_eq!(table.query(Selection::partition("Sales")).collect()?.len(), 1);
//! # Ok::<(), table_core::Error>(())
//! ```

mod query;
mod table;
mod transaction;

/// `.block_on()` on any future, for what has no waiting form of its own.
pub use pollster::FutureExt as BlockOn;
pub use query::{EntityQuery, Scan};
pub use table::{Bulk, Patch, Table};
pub use transaction::EntityTransaction;

use crate::bag::TableEntity;
use crate::entity::Entity;
use crate::error::Result;
use crate::name::TableName;
use crate::store::TableStore;
use crate::table::{TableStoreExt, request};

/// A store whose verbs wait. Made by [`TableStoreExt::blocking`].
#[derive(Clone, Debug)]
pub struct Store<S>(S);

impl<S: TableStore + Clone> Store<S> {
    /// A store whose verbs wait.
    pub const fn new(store: S) -> Self {
        Self(store)
    }

    /// The store itself.
    pub const fn inner(&self) -> &S {
        &self.0
    }

    /// As [`TableStoreExt::table`].
    #[must_use]
    pub fn table<E: Entity>(&self) -> Table<E, S> {
        Table::new(self.0.table())
    }

    /// As [`TableStoreExt::table_named`].
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn table_named<E>(&self, name: &str) -> Result<Table<E, S>> {
        self.0.table_named(name).map(Table::new)
    }

    /// As [`TableStoreExt::untyped`].
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn untyped(&self, name: &str) -> Result<Table<TableEntity, S>> {
        self.0.untyped(name).map(Table::new)
    }

    /// As [`TableStoreExt::create_table_if_missing`].
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn create_table_if_missing(&self, table: &TableName) -> Result<bool> {
        pollster::block_on(request::create_if_missing(&self.0, table))
    }

    /// As [`TableStoreExt::tables`], as an iterator.
    pub fn tables(&self, prefix: &str) -> impl Iterator<Item = Result<TableName>> + use<S> {
        query::iterate(self.0.tables(prefix))
    }
}
