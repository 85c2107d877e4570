//! The stored schemas read by an opened handle.

use std::sync::Arc;

use crate::name::TableName;
use crate::schema::EntitySchema;
use crate::table::layout::SchemaTracker;

/// A view of the stored schemas, as last read by an opened handle. `Table::schema_watch` creates it. Patterns use it to write rows of the handle's entities or
/// of related entities.
///
/// ```
/// use table_core::{Engine, Entity, TableStoreExt};
/// # mod v1 {
/// #     #[derive(table_core::Entity)]
/// #     #[partition_key(department)]
/// #     #[row_key(id)]
/// #     pub struct Employee { pub department: String, pub id: u32 }
/// # }
/// # mod v2 {
/// #     #[derive(table_core::Entity)]
/// #     #[partition_key(department)]
/// #     #[row_key(id)]
/// #     pub struct Employee { pub department: String, pub id: u32, pub nickname: Option<String> }
/// # }
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// store.table::<v1::Employee>().create_if_missing().await?;
/// store.table::<v2::Employee>().create_if_missing().await?;
/// let older = store.table::<v1::Employee>().create_if_missing().await?;
/// assert_eq!(*older.schema_watch().newer_properties(), ["Nickname".to_owned()]);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct SchemaWatch(pub(super) Option<Arc<SchemaTracker>>);

impl SchemaWatch {
    /// Returns the properties declared by a newer stored schema but not by the handle's schema, as of the handle's last read. The result may change whenever
    /// the handle checks that it may write.
    #[must_use]
    pub fn newer_properties(&self) -> Arc<[String]> {
        self.0.as_ref().map_or_else(Arc::default, |tracker| tracker.known_properties())
    }

    /// Returns the properties that rows of other releases may have, as of the handle's last read. These are the [newer](Self::newer_properties) properties, and
    /// the properties declared by an earlier schema but not by the stored one. The handle's schema may declare some of the earlier properties.
    #[must_use]
    pub fn other_properties(&self) -> Arc<[String]> {
        self.0.as_ref().map_or_else(Arc::default, |tracker| tracker.other_properties())
    }

    /// Returns a watch for a different schema in a table of the same store. If the handle has not been opened, the watch contains no schemas.
    #[must_use]
    pub fn of(&self, design: &EntitySchema, table: &TableName) -> Self {
        Self(self.0.as_ref().map(|tracker| tracker.related(design, table)))
    }
}
