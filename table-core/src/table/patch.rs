//! Patches: single properties of a stored entity, set through typed columns and merged in one request (MRG rules).

use std::fmt;

use crate::column::Settable;
use crate::error::{Error, Result};
use crate::etag::{ETag, IfMatch};
use crate::operation::OperationKind;
use crate::property::Property;
use crate::row::RowWriter;
use crate::selection::{Point, PointKey, Primary, Selection};
use crate::store::{TableStore, written};
use crate::table::fault::TableFault;
use crate::table::{Table, request};
use crate::value::Value;

/// New values for some properties of one stored entity. All others are kept (MRG-1).
///
/// Setting a key field, which never changes (UPD-6), or a property that an index depends on, whose old value is unknown, does not compile.
/// [`Table::update`], which reads the entity first, can remove a property (a merge cannot, MRG-3) and compute a value from the old one, such as a
/// counter.
///
/// ```
/// # use table_core::{Entity, Table, TableStoreExt, embedded::Engine};
/// # #[derive(Entity, Clone, Debug, PartialEq)]
/// # #[partition_key(department)]
/// # #[row_key(id)]
/// # struct Employee { department: String, #[digits(6)] id: u32, age: i32 }
/// # let ada = Employee { department: "Sales".into(), id: 223, age: 36 };
/// # pollster::block_on(async {
/// # let employees = Engine::in_memory().table::<Employee>().create_if_missing().await?;
/// let etag = employees.insert(&ada).await?;
/// employees.patch(Employee::key("Sales", 223)).set(Employee::AGE, 37).if_match(etag).send().await?;
/// assert_eq!(employees.get(Employee::key("Sales", 223)).await?.map(|found| found.age), Some(37));
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a patch has no effect until it is sent"]
pub struct Patch<'a, E, S> {
    table: &'a Table<E, S>,
    key: Selection<E, Point>,
    values: Result<Vec<(&'static str, Value)>>,
    if_match: IfMatch,
}

impl<E, S: TableStore> Table<E, S> {
    /// Starts a patch of one entity: a merge without reading it first.
    pub fn patch(&self, key: impl PointKey<E, From = Primary>) -> Patch<'_, E, S> {
        Patch { table: self, key: key.into_point(), values: Ok(Vec::new()), if_match: IfMatch::Any }
    }
}

impl<E, S: TableStore> Patch<'_, E, S> {
    /// Sets a property. If it is set twice, the last value counts.
    ///
    /// A value that cannot be stored is an error of [`send`](Self::send). So is `None`, because a merge cannot remove a property (MRG-3); use
    /// [`Table::update`].
    pub fn set<C: Settable<E>>(mut self, column: C, value: impl Into<C::Value>) -> Self {
        let (name, value) = (column.property(), value.into());
        self.values = self.values.and_then(|mut values| {
            let value = value.to_value()?.ok_or_else(|| Error::of(TableFault::MergeRemoves(name)))?;
            values.retain(|(earlier, _)| *earlier != name);
            values.push((name, value));
            Ok(values)
        });
        self
    }

    /// Makes the patch conditional on this version of the entity. The default is any version.
    pub fn if_match(self, if_match: impl Into<IfMatch>) -> Self {
        Self { if_match: if_match.into(), ..self }
    }

    /// Sends the patch and returns the new version.
    ///
    /// # Errors
    /// `ResourceNotFound`, `UpdateConditionNotSatisfied` (MRG-2); `EntityTooLarge` for the resulting entity (SIZE-6).
    pub async fn send(self) -> Result<ETag> {
        let (table, key) = (self.table.name()?, self.key.into_key()?);
        let in_place = |error: Error| self.table.in_table(error);
        let values = self.values.map_err(in_place)?;
        let mut row = RowWriter::with_capacity(values.len());
        for (name, value) in &values {
            row.property(name, value.as_ref());
        }
        let kind = OperationKind::Merge(row.finish(), self.if_match);
        self.table.admit(self.table.now()).await?;
        let etag = request::write(&self.table.store, table, key, kind).await?;
        written(table, etag)
    }
}

impl<E, S: fmt::Debug> fmt::Debug for Patch<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patch")
            .field("table", &self.table)
            .field("key", &self.key)
            .field("values", &self.values)
            .field("if_match", &self.if_match)
            .finish()
    }
}
