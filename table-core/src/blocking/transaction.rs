//! Transactions with a blocking commit.

use std::ops::{Deref, DerefMut};

use pollster::block_on;

use crate::entity::ToEntity;
use crate::error::Result;
use crate::etag::ETag;
use crate::store::TableStore;
use crate::table;

/// [`EntityTransaction`](table::EntityTransaction) whose commit waits. Its other verbs send nothing and are the same.
#[derive(Debug)]
#[must_use = "a transaction does nothing until it is committed"]
pub struct EntityTransaction<E, S>(table::EntityTransaction<E, S>);

impl<E: ToEntity, S: TableStore> EntityTransaction<E, S> {
    pub(super) const fn new(transaction: table::EntityTransaction<E, S>) -> Self {
        Self(transaction)
    }

    /// As [`EntityTransaction::commit`](table::EntityTransaction::commit).
    ///
    /// # Errors
    /// Those of the verb named.
    pub fn commit(self) -> Result<Vec<Option<ETag>>> {
        block_on(self.0.commit())
    }
}

impl<E, S> Deref for EntityTransaction<E, S> {
    type Target = table::EntityTransaction<E, S>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<E, S> DerefMut for EntityTransaction<E, S> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
