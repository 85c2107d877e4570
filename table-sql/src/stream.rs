//! Streams the rows of a scan by reading pages from the store and converting them to batches.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::metrics::Count;
use table_core::query::EntityRef;
use table_core::{Continuation, DynTableStore, EdmType, Page, Query, TableName, TableStore, ValueRef, ticks};

use crate::build::Builder;
use crate::column::{Column, Source};
use crate::parts::{Parts, Types};

/// The parameters of a scan.
#[derive(Debug)]
pub(crate) struct Scanned {
    pub(crate) store: DynTableStore,
    pub(crate) table: TableName,
    pub(crate) query: Query,
    /// The selected columns.
    pub(crate) columns: Vec<Column>,
    /// All columns of the table.
    pub(crate) all: Vec<Column>,
    pub(crate) schema: SchemaRef,
    /// The entity types of the table.
    pub(crate) types: Types,
    /// The only schema whose rows are returned, or `None` to return all rows.
    pub(crate) only: Option<usize>,
    /// `true` if the key parts of each row are needed, because a column contains a part or because `only` is set.
    pub(crate) needs_parts: bool,
    /// `true` if the key order was announced to DataFusion.
    pub(crate) is_ordered: bool,
    pub(crate) limit: Option<usize>,
}

/// The position in a scan.
pub(crate) struct Position {
    pub(crate) scanned: Arc<Scanned>,
    from: Option<Continuation>,
    is_over: bool,
    /// The number of rows left before the limit is reached.
    left: usize,
    last: Option<(String, String)>,
    requests: Count,
    /// The number of rows that the store omitted from its pages.
    omitted: Count,
}

impl Position {
    pub(crate) fn new(scanned: Arc<Scanned>, (requests, omitted): (Count, Count)) -> Self {
        let left = scanned.limit.unwrap_or(usize::MAX);
        Self { scanned, from: None, is_over: left == 0, left, last: None, requests, omitted }
    }

    /// Reads the next page that contains rows. Returns `None` after the last page.
    pub(crate) async fn next(mut self) -> Result<Option<(RecordBatch, Self)>> {
        while !self.is_over {
            let scanned = self.scanned.clone();
            self.requests.add(1);
            let page = scanned.store.query(&scanned.table, &scanned.query, self.from.as_ref()).await;
            let page = page.map_err(|error| DataFusionError::External(Box::new(error)))?;
            self.omitted.add(usize::try_from(page.skipped).unwrap_or(usize::MAX));
            let batch = self.batch(&page)?;
            self.from = page.continuation;
            self.is_over = self.from.is_none() || self.left == 0;
            if batch.num_rows() > 0 {
                return Ok(Some((batch, self)));
            }
        }
        Ok(None)
    }

    fn batch(&mut self, page: &Page) -> Result<RecordBatch> {
        let scanned = self.scanned.clone();
        let mut builders: Vec<Builder> =
            scanned.columns.iter().map(|column| Builder::new(column.kind)).collect();
        let mut rows = 0;
        for entity in page.rows.iter() {
            if rows == self.left {
                break;
            }
            self.check_order(entity)?;
            let parts = match scanned.needs_parts {
                true => scanned.types.parts(entity),
                false => Ok(None),
            };
            let parts = parts.map_err(|error| DataFusionError::External(Box::new(error)))?;
            if scanned.only.is_some_and(|only| parts.as_ref().is_none_or(|parts| parts.schema != only)) {
                continue;
            }
            for (column, builder) in scanned.columns.iter().zip(&mut builders) {
                scanned.push(column, builder, entity, parts.as_ref())?;
            }
            rows += 1;
        }
        self.left -= rows;
        let arrays = builders.iter_mut().map(Builder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(scanned.schema.clone(), arrays, &options)?)
    }

    /// Returns an error if a row is not in SQL order. SQL order differs from store order for keys with characters above U+FFFF.
    fn check_order(&mut self, entity: EntityRef<'_>) -> Result<()> {
        if !self.scanned.is_ordered {
            return Ok(());
        }
        let keys = (entity.partition_key, entity.row_key);
        if self.last.as_ref().is_some_and(|(partition, row)| (partition.as_str(), row.as_str()) > keys) {
            return Err(DataFusionError::Execution(format!(
                "the key ('{}', '{}') is not in the order of SQL, because of a character above U+FFFF; turn off `SqlOptions::key_order` (`--no-key-order`)",
                keys.0, keys.1
            )));
        }
        match &mut self.last {
            Some((partition, row)) => {
                keys.0.clone_into(partition);
                keys.1.clone_into(row);
            }
            None => self.last = Some((keys.0.to_owned(), keys.1.to_owned())),
        }
        Ok(())
    }
}

impl Scanned {
    fn push(
        &self,
        column: &Column,
        builder: &mut Builder,
        entity: EntityRef<'_>,
        parts: Option<&Parts>,
    ) -> Result<()> {
        let value = match &column.source {
            Source::PartitionKey => Some(ValueRef::String(entity.partition_key)),
            Source::RowKey => Some(ValueRef::String(entity.row_key)),
            Source::Timestamp => {
                Some(entity.row.timestamp()).filter(|ticks| *ticks > 0).map(ValueRef::DateTime)
            }
            Source::Part(label) => {
                let text = parts.and_then(|parts| parts.get(label));
                return push_part(column, builder, entity, text);
            }
            Source::Property(name, edm) => {
                let found = entity.row.find(name, &mut 0);
                let found = found.map_err(|error| DataFusionError::External(Box::new(error)))?;
                if let Some(other) =
                    found.map(|value| value.edm_type()).filter(|other| !self.knows(name, *other))
                {
                    return Err(no_column(name, other, entity));
                }
                found.filter(|value| value.edm_type() == *edm)
            }
        };
        match value {
            None => builder.push_null(),
            Some(value) if builder.push(value) => {}
            Some(_) => return Err(no_place(column, entity)),
        }
        Ok(())
    }

    /// Returns `true` if the table has a column for values of the given property and type.
    fn knows(&self, name: &str, edm: EdmType) -> bool {
        let is_it = |column: &Column| matches!(&column.source, Source::Property(known, of) if known == name && *of == edm);
        self.columns.iter().chain(&self.all).any(is_it)
    }
}

/// Appends the value of a key part, given in its user-facing format.
fn push_part(
    column: &Column,
    builder: &mut Builder,
    entity: EntityRef<'_>,
    text: Option<&str>,
) -> Result<()> {
    let Some(text) = text else {
        builder.push_null();
        return Ok(());
    };
    let is_pushed = match builder {
        Builder::Int64(_) => text.parse().is_ok_and(|number| builder.push(ValueRef::Int64(number))),
        Builder::Nanos(_) => ticks::read(text).is_some_and(|ticks| builder.push(ValueRef::DateTime(ticks))),
        _ => builder.push(ValueRef::String(text)),
    };
    if is_pushed {
        return Ok(());
    }
    let (name, partition, row) = (&column.name, entity.partition_key, entity.row_key);
    Err(DataFusionError::Execution(format!(
        "the part `{name}` of ('{partition}', '{row}') is `{text}`, which its column cannot represent"
    )))
}

fn no_place(column: &Column, entity: EntityRef<'_>) -> DataFusionError {
    DataFusionError::Execution(format!(
        "`{}` of ('{}', '{}') is outside the years 1678 to 2261, which no sampled row was; sample all rows (`--sample 0`)",
        column.name, entity.partition_key, entity.row_key
    ))
}

fn no_column(name: &str, edm: EdmType, entity: EntityRef<'_>) -> DataFusionError {
    DataFusionError::Execution(format!(
        "`{name}` of ('{}', '{}') is of type {edm}, which no sampled row had, so no column has its value; sample all rows (`--sample 0`)",
        entity.partition_key, entity.row_key
    ))
}
