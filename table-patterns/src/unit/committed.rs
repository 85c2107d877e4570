//! The result of a committed transaction.

use std::ops::Deref;

use table_core::entity::{Entity, Versioned};
use table_core::etag::ETag;
use table_core::key::{PartitionKey, RowKey};

/// The new versions of the written entities, in write order.
pub(super) type Versions = Vec<(RowKey, Option<ETag>)>;

/// The result of a committed transaction: the closure's value and the new versions of the written entities.
#[derive(Clone, Debug)]
pub struct Committed<T> {
    pub(super) value: T,
    pub(super) partition_key: PartitionKey,
    pub(super) versions: Versions,
    /// The commit time, according to the clock of the handle's runtime.
    pub(super) time: u64,
}

impl<T> Committed<T> {
    /// Returns the value returned by the transaction's closure.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Returns the new versions of the entities in write order. The version is `None` if the entity was deleted, or if a later transaction in the same group
    /// commit changed it again.
    pub fn etags(&self) -> impl Iterator<Item = Option<&ETag>> {
        self.versions.iter().map(|(_, etag)| etag.as_ref())
    }

    /// Returns a written entity with its new version. The next write then needs no read. Returns `None` if the version is unknown. On a store whose `ETag`s
    /// contain no time, the Timestamp is the commit time according to this process's clock.
    ///
    /// ```
    /// use table_patterns::unit::Committed;
    /// use table_patterns::{Engine, Entity, EntityStore, Error};
    ///
    /// #[derive(Entity, Clone, Debug, PartialEq)]
    /// #[entity(table = "Accounts")]
    /// #[partition_key(tenant)]
    /// #[row_key(digits(6, number))]
    /// struct Account { tenant: String, number: u32, cents: i64 }
    ///
    /// # pollster::block_on(async {
    /// let accounts = Engine::in_memory().entities::<Account>().create_if_missing().await?;
    /// let account = Account { tenant: "contoso".into(), number: 1, cents: 100 };
    /// let opened: Committed<()> = accounts
    ///     .transaction(Account::partition("contoso"), async |unit| unit.insert(&account).map(drop).map_err(Error::from))
    ///     .await?;
    /// let stored = opened.versioned(account.clone()).expect("the account was written");
    /// accounts.replace(&Account { cents: 101, ..account }, stored.etag().clone()).await?;
    /// # Ok::<(), Error>(())
    /// # }).unwrap();
    /// ```
    pub fn versioned<E: Entity>(&self, entity: E) -> Option<Versioned<E>> {
        let key = entity.key_of().ok().filter(|key| key.partition_key == self.partition_key)?;
        let (_, etag) = self.versions.iter().find(|(row_key, _)| *row_key == key.row_key)?;
        let etag = etag.clone()?;
        let ticks = etag.ticks().unwrap_or(self.time);
        Some(Versioned::new(entity, etag, ticks))
    }
}

impl<T> Deref for Committed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests;
