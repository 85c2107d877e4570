//! Tables without a schema. Functions of [`Table`] for [`TableEntity`] values take keys and `$filter` expressions as strings.

use std::borrow::Cow;

use table_store::{Error, Result};

use crate::bag::TableEntity;
use crate::filter::Filter;
use crate::key::EntityKey;
use crate::query::{KeyRange, Query, QueryClass, Select, TextRange};
use crate::selection::{IntoSelection, Partition, Point, PointKey, Primary, RowRange, Selection};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::{EntityQuery, Table};

/// A table whose entities are [`TableEntity`] values.
///
/// All functions of [`Table`] are available. [`Selection::point`], [`Selection::rows`] and [`Selection::partition`] create selections from strings.
///
/// ```
/// use table_core::{Selection, TableEntity, TableStoreExt, Value, embedded::Engine};
///
/// # pollster::block_on(async {
/// let table = Engine::in_memory().untyped("Employee")?.create_if_missing().await?;
/// table.insert(&TableEntity::new("Sales", "000223")?.with("Age", 36)).await?;
///
/// let ada = table.get(Selection::point("Sales", "000223")).await?.expect("just inserted");
/// assert_eq!(ada.get("Age"), Some(&Value::Int32(36)));
/// let query = table.query_text("PartitionKey eq 'Sales' and Age ge 30")?.select(["Age"]);
/// assert_eq!(query.collect().await?.len(), 1);
/// assert_eq!(table.query_text("Age ge 30").unwrap_err().rule(), Some("DQ-5")); // a table scan
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub type UntypedTable<S> = Table<TableEntity, S>;

impl Selection<TableEntity, Point> {
    /// Selects one entity by its two keys, which are validated when the selection is used.
    pub fn point(partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        Self::of_texts(Ok((partition_key.into(), row_key.into())))
    }
}

#[diagnostic::do_not_recommend]
impl IntoSelection<TableEntity, Point> for &EntityKey {
    fn into_selection(self) -> Selection<TableEntity, Point> {
        Selection::point(self.partition_key.as_str(), self.row_key.as_str())
    }
}

#[diagnostic::do_not_recommend]
impl PointKey<TableEntity> for &EntityKey {
    type From = Primary;

    fn into_point(self) -> Selection<TableEntity, Point> {
        self.into_selection()
    }
}

impl Selection<TableEntity, RowRange> {
    /// Selects a range of rows in one partition (DQ-3).
    pub fn rows(partition_key: impl Into<String>, rows: TextRange) -> Self {
        Self::new(Ok(vec![KeyRange::rows(partition_key, rows)]))
    }
}

impl Selection<TableEntity, Partition> {
    /// Selects all rows of one partition (DQ-4).
    pub fn partition(partition_key: impl Into<String>) -> Self {
        Self::new(Ok(vec![KeyRange::partition(partition_key)]))
    }
}

impl<S: TableStore + Clone> Table<TableEntity, S> {
    /// Creates a query from the text of a `$filter`, such as `PartitionKey eq 'Sales' and Age ge 30`.
    ///
    /// Key conditions joined by `and` limit the rows to read (CLS-3).
    ///
    /// # Errors
    /// `InvalidInput` if the string is not a filter (FIL-5), or if the filter would read the entire table. In the latter case, use [`scan`](Table::scan), which
    /// also accepts a filter.
    pub fn query_text(&self, filter: &str) -> Result<EntityQuery<TableEntity, S>> {
        let query = Query::parse(filter).map_err(|error| self.in_table(error))?;
        let class = query.keys.class();
        if class == QueryClass::TableScan {
            return Err(self.in_table(Error::of(TableFault::WholeTable(filter.to_owned()))));
        }
        let ranges: EntityQuery<TableEntity, S> = self.query_ranges(Ok(vec![query.keys]), class);
        Ok(match query.filter {
            Some(filter) => ranges.with_filter(filter),
            None => ranges,
        })
    }
}

impl<S> EntityQuery<TableEntity, S> {
    /// Requests only these properties (DQ-13). If an entity lacks a requested property, that property is absent from the result (SEL-3).
    ///
    /// For typed entities, use a [`Projection`](crate::Projection) instead.
    pub fn select(self, names: impl IntoIterator<Item: Into<Cow<'static, str>>>) -> Self {
        self.with_select(Select::names(names))
    }

    /// Adds a condition from the text of a `$filter`. Blank text adds no condition (FIL-6).
    ///
    /// # Errors
    /// `InvalidInput` if the string is not a filter (FIL-5).
    pub fn filter_text(self, filter: &str) -> Result<Self> {
        Ok(match Filter::parse(filter)? {
            Some(filter) => self.with_filter(filter),
            None => self,
        })
    }
}
