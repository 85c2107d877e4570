//! Patches through an [`Entities`] handle. A patch changes individual properties, which may be indexed (MRG rules).

use table_core::column::{Column, OutsideKey};
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::property::Property;
use table_core::selection::{OwnSource, PointKey};
use table_core::store::TableStore;
use table_core::table::{Patch, PatchChange, PatchTarget, SetBy};
use table_core::{Error, Result};

use crate::entities::handle::Entities;
use crate::entities::outbox::StepRecorder;

impl<E: Entity + Send + Sync, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Creates a patch of one entity. A patch usually sends a single merge. If a contributor needs the stored version, or if the patch sets a property to
    /// `None`, the patch sends a read and a write.
    ///
    /// ```
    /// # use table_core::{Engine, Entity};
    /// # use table_patterns::EntityStore;
    /// # #[derive(Entity, Clone)]
    /// # #[partition_key(department)]
    /// # #[row_key("empid_", id)]
    /// # #[index(ByAge, row_key("age_", age, "_", id))]
    /// # struct Employee { department: String, #[digits(6)] id: u32, #[digits(3)] age: u8 }
    /// # pollster::block_on(async {
    /// let employees = Engine::in_memory().entities::<Employee>().create_if_missing().await?;
    /// employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
    /// employees.patch(Employee::key("Sales", 223)).set(Employee::AGE, 37).send().await?;
    /// assert_eq!(employees.query(Employee::by_age("Sales", 37)).collect().await?.len(), 1);
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn patch(&self, key: impl PointKey<E, From: OwnSource<E>>) -> Patch<'_, Self> {
        Patch::new(self, OwnSource::into_own(key.into_point()))
    }
}

/// Allows a patch to set any property that is not part of the key. If a contributor needs the old value, it is read first.
impl<E: Entity, S, O, T: Property, K: OutsideKey> SetBy<Entities<E, S, O>> for Column<E, T, K> {
    type Value = T;

    fn property(&self) -> &'static str {
        self.name()
    }
}

impl<E: Entity + Send + Sync, S: TableStore, O: StepRecorder> PatchTarget for Entities<E, S, O> {
    type Entity = E;

    async fn change_properties(
        &self,
        key: EntityKey,
        change: PatchChange,
        if_match: IfMatch,
    ) -> Result<ETag> {
        let blind = change.as_merge().filter(|_| self.is_blind());
        let blind = blind.map(|row| OperationKind::Merge(row.clone(), if_match.clone()));
        if let Some(kind) = blind.filter(|kind| self.is_blind_for(kind)) {
            return self.written(self.write_blind(key, kind).await?);
        }
        let written = self
            .write(&key, true, None, |current| {
                let current = self.expected(&key, current, &if_match)?;
                let planned = match change.as_merge() {
                    Some(row) => self.plan_merge(&key, &current, row.clone()),
                    None => self.plan_removal(&key, &current, &change),
                };
                planned.map(Some)
            })
            .await?;
        self.written(written)
    }

    fn in_table(&self, error: Error) -> Error {
        Self::in_table(self, error)
    }
}

#[cfg(test)]
mod tests;
