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
        let merge = change.as_merge().map(|row| OperationKind::Merge(row.clone(), if_match.clone()));
        if let Some(kind) = merge.filter(|kind| self.is_blind_for(kind)) {
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
mod tests {
    use pollster::block_on;
    use table_core::{Engine, Entity, Projection};

    use crate::EntityStore;

    /// An entity with an index whose `when` function reads `active` and `note`. The index rows contain neither property.
    #[derive(Clone, Debug, Entity, PartialEq)]
    #[entity(crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByName, row_key("name_", escaped(last_name), "!", id), include(email), when = Employee::is_listed)]
    #[index_entity(Listed, at_most = 9, row_key("listed_", last_name), when = Employee::is_listed)]
    struct Employee {
        department: String,
        id: u32,
        last_name: String,
        email: String,
        active: bool,
        note: Option<String>,
    }

    #[derive(Debug, PartialEq, Projection)]
    #[projection(of = Employee, crate = table_core)]
    struct Email {
        email: String,
    }

    impl Employee {
        fn is_listed(&self) -> bool {
            self.active && self.note.is_none()
        }
    }

    #[test]
    fn a_patch_of_a_property_that_only_the_function_of_an_index_reads_adds_and_removes_the_index_rows() {
        block_on(async {
            let table = Engine::in_memory().entities::<Employee>().create_if_missing().await.unwrap();
            let mut ada = Employee {
                department: "Sales".to_owned(),
                id: 223,
                last_name: "King".to_owned(),
                email: "ada@contoso.com".to_owned(),
                active: true,
                note: None,
            };
            table.insert(&ada).await.unwrap();
            let key = || Employee::key("Sales", 223_u32);
            let notes = [None, Some("on leave"), None];
            for (active, note) in [true, false, true].into_iter().flat_map(|it| notes.map(|note| (it, note)))
            {
                table.patch(key()).set(Employee::ACTIVE, active).send().await.unwrap();
                table.patch(key()).set(Employee::NOTE, note.map(str::to_owned)).send().await.unwrap();
                (ada.active, ada.note) = (active, note.map(str::to_owned));
                let copies = table.query(Employee::by_name("Sales", "King")).project::<Email>();
                let copies = copies.collect().await.unwrap();
                let listed = table.get_by_index(Employee::listed("Sales", "King")).await.unwrap();
                let expected = usize::from(ada.is_listed());
                assert_eq!((copies.len(), listed.len()), (expected, expected), "{active} {note:?}");
                assert_eq!(table.get(key()).await.unwrap().as_deref(), Some(&ada));
            }
        });
    }
}
