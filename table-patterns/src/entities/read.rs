//! Reads an entity's stored version before a write that depends on it.

use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::query::{EntityRef, Select};
use table_core::row::Row;
use table_core::store::{self, TableStore};
use table_core::{Error, Result};

use crate::entities::fault::EntityFault;
use crate::entities::handle::Entities;

/// The name of the contended rows in error messages about conflicts.
pub(crate) const RACE: &str = "the entity or a row that is written with it";

/// A stored version of an entity.
pub(crate) struct Current<E> {
    pub(crate) entity: E,
    /// All stored properties, or `None` if the caller passed an entity it had already read.
    pub(crate) stored: Option<Row>,
    pub(crate) etag: ETag,
    pub(crate) ticks: u64,
}

impl<E> Current<E> {
    /// Returns the entity, and all of its stored properties if they have been read.
    pub(crate) const fn old(&self) -> (&E, Option<&Row>) {
        (&self.entity, self.stored.as_ref())
    }
}

impl<E: Entity, S: TableStore, O> Entities<E, S, O> {
    /// Reads the stored version of an entity.
    pub(crate) async fn current(&self, key: &EntityKey) -> Result<Option<Current<E>>> {
        let found = self.table.store().get(self.table.name()?, key, &Select::All).await?;
        let Some(found) = found else { return Ok(None) };
        let entity = read_as(key, &found.row).map_err(|error| self.here(error, key))?;
        let ticks = found.row.view().timestamp();
        Ok(Some(Current { entity, stored: Some(found.row), etag: found.etag, ticks }))
    }

    /// Returns the stored version if it exists and satisfies a condition.
    ///
    /// # Errors
    /// `ResourceNotFound` if the entity does not exist; `UpdateConditionNotSatisfied` if its version does not satisfy the condition.
    pub(crate) fn expected(
        &self,
        key: &EntityKey,
        current: Option<Current<E>>,
        if_match: &IfMatch,
    ) -> Result<Current<E>> {
        let fault = match current {
            Some(current) if if_match.accepts(&current.etag) => return Ok(current),
            Some(_) => EntityFault::Changed,
            None => EntityFault::NotFound,
        };
        Err(self.here(Error::of(fault), key))
    }
}

impl<E: Entity, S, O> Entities<E, S, O> {
    /// Adds the table name and a key to an error.
    pub(crate) fn here(&self, error: Error, key: &EntityKey) -> Error {
        let error = error.with_key(key.partition_key.as_str(), key.row_key.as_str());
        match self.table.name() {
            Ok(table) => error.with_table(table.as_str()),
            Err(_) => error,
        }
    }

    /// Adds the table name to an error that has none.
    pub(crate) fn in_table(&self, error: Error) -> Error {
        match (error.table(), self.table.name()) {
            (None, Ok(table)) => error.with_table(table.as_str()),
            _ => error,
        }
    }

    /// Returns the entity's new version from the response to a write.
    pub(crate) fn written(&self, etag: Option<ETag>) -> Result<ETag> {
        store::written(self.table.name()?, etag)
    }
}

/// Decodes an entity from its properties.
pub(crate) fn read_as<E: Entity>(key: &EntityKey, row: &Row) -> Result<E> {
    E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view()))
}
