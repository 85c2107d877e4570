//! A collection of an entity's undeclared properties.

use std::collections::BTreeMap;

use table_store::{Error, Result, Value, edm_ticks};

use crate::property::Search;
use crate::property::fault::PropertyFault;
use crate::row::{RowView, RowWriter};
use crate::schema::{ENTITY_TYPE, EntitySchema, IndexSchema, UNCLAIMED};

/// A type that collects the properties that no field declares. It is `BTreeMap<String, Value>`. Declared by `#[property(rest)]`.
///
/// Collected properties are written back, even by `replace` and `update`. Data written by other programs is therefore preserved. Names are case-sensitive, as
/// in the store (PROP-1). Copies in an index without `include(…)` also contain these properties.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use table_core::{Engine, Entity, TableEntity, TableStoreExt, Value};
///
/// #[derive(Entity)]
/// #[entity(table = "Company")]
/// #[partition_key(department)]
/// #[row_key(id)]
/// struct Employee {
///     department: String,
///     id: u16,
///     age: i32,
///     #[property(rest)]
///     rest: BTreeMap<String, Value>,
/// }
///
/// # pollster::block_on(async {
/// let store = Engine::in_memory();
/// let employees = store.table::<Employee>().create_if_missing().await?;
/// let other = TableEntity::new("Sales", "00223")?.with("Age", 36).with("Badge", 7_i64);
/// store.untyped("Company")?.insert(&other).await?;
/// let ada = employees.update(Employee::key("Sales", 223_u16), |ada| ada.age += 1).await?;
/// assert_eq!(ada.rest.get("Badge"), Some(&Value::Int64(7)));
/// employees.replace(ada.value(), ada.etag().clone()).await?;          // the badge is kept
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "[T171] `{Self}` cannot collect the remaining properties",
    label = "expected a map of names to values",
    note = "write `BTreeMap<String, Value>`, with `std::collections::BTreeMap` and `table_core::Value`"
)]
pub trait Rest: Sized {
    /// Collects a row's undeclared properties. The row stores the entity or, if `index` is `Some`, its copy in this index.
    ///
    /// # Errors
    /// `Corrupted` if the bytes are not a row.
    fn read_rest(row: RowView<'_>, design: &EntitySchema, index: Option<&IndexSchema>) -> Result<Self>;

    /// Appends the collected properties to a row. The row stores the entity or, if `index` is `Some`, its copy in this index.
    ///
    /// # Errors
    /// - `DuplicatePropertiesSpecified` if a collected property has the name of a declared property. In a copy, this error also occurs for the name of a key
    ///   field or of the deletion mark.
    /// - `OutOfRangeInput` if a time is outside the years 1601 to 9999 (TYPE-6).
    ///
    /// Both errors contain the name.
    fn write_rest(
        &self,
        design: &EntitySchema,
        index: Option<&IndexSchema>,
        row: &mut RowWriter,
    ) -> Result<()>;

    /// Reads the properties like [`read_rest`](Self::read_rest), for generated code. On failure, returns `None` and stores the error in `search`.
    #[doc(hidden)]
    fn find_rest(
        search: &mut Search<'_>,
        design: &EntitySchema,
        index: Option<&IndexSchema>,
    ) -> Option<Self> {
        let read = Self::read_rest(search.view(), design, index);
        search.keep(read)
    }
}

/// Returns `true` if the entity's schema declares a property with this name.
fn entity_names(design: &EntitySchema, name: &str) -> bool {
    design.declares(name) || (design.kind.is_some() && name == ENTITY_TYPE)
}

/// Returns `true` if copies in the index store a key field of the entity under this name.
fn copies_name(index: Option<&IndexSchema>, name: &str) -> bool {
    index.is_some_and(|index| index.properties.iter().any(|property| property.name == name))
}

/// Returns `true` if the row is a copy in an index and `name` is the property that marks it for deletion.
fn marks_copy(index: Option<&IndexSchema>, name: &str) -> bool {
    index.is_some() && name == UNCLAIMED
}

#[diagnostic::do_not_recommend]
impl Rest for BTreeMap<String, Value> {
    fn read_rest(row: RowView<'_>, design: &EntitySchema, index: Option<&IndexSchema>) -> Result<Self> {
        let mut rest = Self::new();
        for property in row.properties() {
            let property = property?;
            let name = property.name;
            if !entity_names(design, name) && !copies_name(index, name) && !marks_copy(index, name) {
                rest.insert(name.to_owned(), property.value.to_owned());
            }
        }
        Ok(rest)
    }

    fn write_rest(
        &self,
        design: &EntitySchema,
        index: Option<&IndexSchema>,
        row: &mut RowWriter,
    ) -> Result<()> {
        for (name, value) in self {
            if entity_names(design, name) {
                return Err(Error::of(PropertyFault::Rest).with_property(name));
            }
            if let Some(index) = index.filter(|index| copies_name(Some(index), name)) {
                return Err(Error::of(PropertyFault::RestOfCopy(index.name)).with_property(name));
            }
            if let Some(index) = index.filter(|index| marks_copy(Some(index), name)) {
                return Err(Error::of(PropertyFault::RestOfMark(index.name)).with_property(name));
            }
            if let Value::DateTime(instant) = value {
                edm_ticks(name, *instant)?;
            }
            row.property(name, value.as_ref());
        }
        Ok(())
    }
}
