//! Patches of indexed entities: single properties, openly read-modify-write (MRG rules).

use std::fmt;

use table_core::column::Column;
use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::etag::{ETag, IfMatch};
use table_core::operation::OperationKind;
use table_core::property::Property;
use table_core::row::RowWriter;
use table_core::selection::{Point, PointKey, Primary, Selection};
use table_core::store::TableStore;
use table_core::value::Value;

use crate::index::fault::IndexFault;
use crate::index::outbox::IndexOutbox;
use crate::index::table::Entities;

impl<E: Entity, S: TableStore, O: IndexOutbox> Entities<E, S, O> {
    /// Begins a patch: single properties, indexed ones too, because the old values are read first.
    pub fn patch(&self, key: impl PointKey<E, From = Primary>) -> IndexedPatch<'_, E, S, O> {
        IndexedPatch { table: self, key: key.into_point(), values: Ok(Vec::new()), if_match: IfMatch::Any }
    }
}

/// New values for some properties of one stored entity, whose indexes follow. Openly read-modify-write: two requests at least.
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
#[must_use = "a patch does nothing until it is sent"]
pub struct IndexedPatch<'a, E, S, O> {
    table: &'a Entities<E, S, O>,
    key: Selection<E, Point>,
    values: Result<Vec<(&'static str, Value)>>,
    if_match: IfMatch,
}

impl<E: Entity, S: TableStore, O: IndexOutbox> IndexedPatch<'_, E, S, O> {
    /// Sets a property. The last value counts if it is set twice. A value that cannot be stored is an error of
    /// [`send`](Self::send); so is `None`, because a merge cannot remove a property (MRG-3):
    /// [`update`](Entities::update) can.
    pub fn set<T: Property, K>(mut self, column: Column<E, T, K>, value: impl Into<T>) -> Self {
        let (name, value) = (column.name(), value.into());
        self.values = self.values.and_then(|mut values| {
            let value = value.to_value()?.ok_or_else(|| Error::of(IndexFault::Removed(name)))?;
            values.retain(|(earlier, _)| *earlier != name);
            values.push((name, value));
            Ok(values)
        });
        self
    }

    /// Only if the entity is of this version; without it, of any.
    pub fn if_match(self, if_match: impl Into<IfMatch>) -> Self {
        Self { if_match: if_match.into(), ..self }
    }

    /// Sends the patch and gives the new version.
    ///
    /// # Errors
    /// Those of [`Entities::replace`].
    pub async fn send(self) -> Result<ETag> {
        let key = self.key.into_key()?;
        let values = self.values.map_err(|error| self.table.here(error, &key))?;
        let mut row = RowWriter::with_capacity(values.len());
        for (name, value) in &values {
            row.property(name, value.as_ref());
        }
        let row = row.finish();
        if self.table.is_blind() {
            let kind = OperationKind::Merge(row, self.if_match);
            return self.table.written(self.table.write_blind(key, kind).await?);
        }
        let written = self
            .table
            .write(&key, true, None, |current| {
                let current = self.table.expected(&key, current, &self.if_match)?;
                self.table.merged(&key, &current, row.clone()).map(Some)
            })
            .await?;
        self.table.written(written)
    }
}

impl<E, S: fmt::Debug, O: fmt::Debug> fmt::Debug for IndexedPatch<'_, E, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedPatch")
            .field("table", &self.table)
            .field("key", &self.key)
            .field("values", &self.values)
            .field("if_match", &self.if_match)
            .finish()
    }
}
