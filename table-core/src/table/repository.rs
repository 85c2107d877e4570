//! The trait `Repository`, which generic code can use for any table handle.

use table_store::Result;

use crate::entity::{Entity, PlainEntity, Versioned};
use crate::etag::{ETag, IfMatch};
use crate::selection::{IntoSelection, Paged, Point, Primary, Selection};
use crate::store::TableStore;
use crate::table::{Bulk, BulkTarget, EntityQuery, Patch, PatchTarget, Table, UpdateFrom};

/// A handle to a table of entities of type `E`, for use in generic code.
///
/// It is implemented by [`Table`], and by the `Entities` handle of `table-patterns`, which also maintains indexes and other declared patterns.
///
/// ```
/// use table_core::table::Repository;
/// use table_core::{Engine, Entity, Result, TableStoreExt};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
///
/// /// Adds a year to the age of each employee of a department. Returns the number of employees.
/// async fn birthday(employees: &impl Repository<Employee>, department: &str) -> Result<usize> {
///     let all = employees.query(Employee::rows(department)).collect_versioned().await?;
///     let count = all.len();
///     for employee in all {
///         employees.update(employee, |employee| employee.age += 1).await?;
///     }
///     Ok(count)
/// }
///
/// # pollster::block_on(async {
/// let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// employees.insert(&Employee { department: "Sales".into(), id: 223, age: 36 }).await?;
/// assert_eq!(birthday(&employees, "Sales").await?, 1);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub trait Repository<E: Entity + Send + Sync>:
    PatchTarget<Entity = E> + BulkTarget<Entity = E> + Sized
{
    /// The type of the store that contains the table.
    type Store: TableStore + Clone;

    /// Returns the typed table handle, which has additional read functions.
    fn as_table(&self) -> &Table<E, Self::Store>;

    /// Inserts an entity.
    ///
    /// # Errors
    /// Any error from [`Table::insert`].
    fn insert(&self, entity: &E) -> impl Future<Output = Result<ETag>> + Send;

    /// Replaces the stored entity if its version satisfies `if_match`.
    ///
    /// # Errors
    /// Any error from [`Table::replace`].
    fn replace(&self, entity: &E, if_match: IfMatch) -> impl Future<Output = Result<ETag>> + Send;

    /// Inserts the entity, or replaces the stored entity with the same key.
    ///
    /// # Errors
    /// Any error from [`Table::insert_or_replace`].
    fn insert_or_replace(&self, entity: &E) -> impl Future<Output = Result<ETag>> + Send;

    /// Reads an entity, changes it and writes it. Retries after a conflict with another writer.
    ///
    /// # Errors
    /// Any error from [`Table::update`].
    fn update(
        &self,
        from: impl Into<UpdateFrom<E>>,
        change: impl FnMut(&mut E) + Send,
    ) -> impl Future<Output = Result<Versioned<E>>> + Send;

    /// Deletes an entity if its version satisfies `if_match`.
    ///
    /// # Errors
    /// Any error from [`Table::delete`].
    fn delete(&self, key: Selection<E, Point>, if_match: IfMatch) -> impl Future<Output = Result<()>> + Send;

    /// Reads an entity.
    ///
    /// # Errors
    /// Any error from [`Table::get`].
    fn get(&self, key: Selection<E, Point>) -> impl Future<Output = Result<Option<Versioned<E>>>> + Send {
        self.as_table().get(key)
    }

    /// Creates a query for the entities. The query skips index rows.
    fn query<C: Paged>(&self, selection: impl IntoSelection<E, C, Primary>) -> EntityQuery<E, Self::Store>;

    /// Creates a patch of one entity.
    fn patch(&self, key: Selection<E, Point>) -> Patch<'_, Self> {
        Patch::new(self, key)
    }

    /// Creates a builder for bulk writes.
    fn bulk(&self) -> Bulk<'_, Self> {
        Bulk::new(self)
    }
}

/// Implements the functions of [`Repository`] by delegating to a handle.
#[doc(hidden)]
#[macro_export]
macro_rules! __repository_verbs {
    ($E:ident, $S:ident) => {
        type Store = $S;

        fn insert(&self, entity: &$E) -> impl Future<Output = $crate::Result<$crate::ETag>> + Send {
            Self::insert(self, entity)
        }

        fn replace(
            &self,
            entity: &$E,
            if_match: $crate::IfMatch,
        ) -> impl Future<Output = $crate::Result<$crate::ETag>> + Send {
            Self::replace(self, entity, if_match)
        }

        fn insert_or_replace(
            &self,
            entity: &$E,
        ) -> impl Future<Output = $crate::Result<$crate::ETag>> + Send {
            Self::insert_or_replace(self, entity)
        }

        fn update(
            &self,
            from: impl Into<$crate::table::UpdateFrom<$E>>,
            change: impl FnMut(&mut $E) + Send,
        ) -> impl Future<Output = $crate::Result<$crate::Versioned<$E>>> + Send {
            let from = from.into();
            async move { Self::update(self, from, change).await }
        }

        fn delete(
            &self,
            key: $crate::Selection<$E, $crate::selection::Point>,
            if_match: $crate::IfMatch,
        ) -> impl Future<Output = $crate::Result<()>> + Send {
            Self::delete(self, key, if_match)
        }

        fn query<C: $crate::selection::Paged>(
            &self,
            selection: impl $crate::selection::IntoSelection<$E, C, $crate::selection::Primary>,
        ) -> $crate::table::EntityQuery<$E, $S> {
            Self::query(self, selection)
        }
    };
}

impl<E: PlainEntity + Send + Sync, S: TableStore + Clone> Repository<E> for Table<E, S> {
    fn as_table(&self) -> &Self {
        self
    }

    __repository_verbs!(E, S);
}
