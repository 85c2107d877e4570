//! The DataFusion table provider for a table of a store.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::ExecutionPlan;
use table_core::query::Select;
use table_core::schema::ENTITY_TYPE;
use table_core::{DynTableStore, Filter, Query, TableName, TableStore};

use crate::catalog::SqlOptions;
use crate::column::{self, Column, Source};
use crate::condition::Condition;
use crate::parts::Types;
use crate::scan::StoreScan;
use crate::stream::Scanned;
use crate::survey::Survey;
use crate::{filter, keys, order};

/// The maximum length in bytes of a filter sent to the store. The service limits the length of a URL, in which one byte can take up three characters.
const FILTER_BYTES: usize = 8 << 10;

/// A DataFusion table provider for one table of a store.
#[derive(Debug)]
pub struct StoreTable {
    store: DynTableStore,
    table: TableName,
    types: Types,
    columns: Vec<Column>,
    schema: SchemaRef,
    is_ordered: bool,
}

impl StoreTable {
    /// Opens a table and determines its columns from its stored schemas and a sample of its rows.
    ///
    /// # Errors
    /// `External` if a request fails. It contains the error from the store, such as `TableNotFound`.
    pub async fn open(store: &DynTableStore, table: &TableName, options: &SqlOptions) -> Result<Self> {
        let external = |error: table_core::Error| DataFusionError::External(Box::new(error));
        let schemas = table_inspect::keys::schemas_of_rows(store, table).await;
        let schemas = schemas.map_err(|error| match error {
            table_inspect::Error::Store(error) => external(error),
            other => DataFusionError::External(Box::new(other)),
        })?;
        let (types, names) = Types::new(table.as_str(), &schemas);
        let mut survey = Survey::default();
        survey.declare(&types.schemas);
        survey.sample(store, table, options.sample).await.map_err(external)?;
        let columns = survey.columns(&types.schemas, &names);
        let schema = Arc::new(column::schema(&columns));
        let is_ordered = options.key_order && store.capabilities().ordered;
        Ok(Self { store: store.clone(), table: table.clone(), types, columns, schema, is_ordered })
    }

    /// Returns `true` if the store can evaluate at least a part of a condition.
    fn is_used(&self, expression: &Expr) -> bool {
        let conditions = Condition::all(expression, &self.columns);
        let is_key = |condition: &Condition<'_>| {
            !matches!(condition.column.source, Source::Property(..) | Source::Timestamp)
        };
        conditions.iter().any(is_key) || filter::filter(expression, &self.columns).is_some()
    }

    /// Returns the filter for the conditions not fully expressed by the key range.
    fn filter(&self, expressions: &[Expr]) -> Option<Filter> {
        let is_key = |expression: &&Expr| {
            let condition = Condition::of(expression, &self.columns);
            !condition.is_some_and(|condition| {
                matches!(condition.column.source, Source::PartitionKey | Source::RowKey)
            })
        };
        let filters = expressions.iter().filter(is_key).filter_map(|one| filter::filter(one, &self.columns));
        filters.reduce(Filter::and)
    }
}

/// Returns the properties to request in a query for the given columns. If `needs_kind` is `true`, the property `EntityType` is also requested.
fn select(columns: &[Column], needs_kind: bool) -> Select {
    let name = |column: &Column| match &column.source {
        Source::Property(name, _) => Some(name.clone()),
        Source::Timestamp => Some("Timestamp".to_owned()),
        Source::PartitionKey | Source::RowKey | Source::Part(_) => None,
    };
    let mut names = vec!["PartitionKey".to_owned(), "RowKey".to_owned()];
    for name in columns.iter().filter_map(name).chain(needs_kind.then(|| ENTITY_TYPE.to_owned())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Select::names(names)
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |expression: &&Expr| match self.is_used(expression) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns: Vec<Column> = match projection {
            Some(places) => places.iter().filter_map(|at| self.columns.get(*at)).cloned().collect(),
            None => self.columns.clone(),
        };
        let schema = Arc::new(column::schema(&columns));
        let conditions: Vec<_> = filters.iter().flat_map(|one| Condition::all(one, &self.columns)).collect();
        let range = keys::range(&self.types.schemas, &conditions);
        let most = self.store.capabilities().top;
        let is_part = |column: &Column| matches!(column.source, Source::Part(_));
        let needs_parts = range.schema.is_some() || columns.iter().any(is_part);
        let needs_kind = needs_parts && self.types.need_entity_type();
        let mut query = Query { select: select(&columns, needs_kind), ..Query::new(range.keys.clone()) };
        // All properties are requested if a request cannot name them individually, for example because it would name too many.
        if query.check(most).is_err() {
            query.select = Select::All;
        }
        // DataFusion evaluates the conditions again and may remove rows. With a limit on the rows read, too few rows could then remain.
        let limit = limit.filter(|_| filters.is_empty());
        query.top = limit.filter(|limit| (1..most).contains(limit));
        query.filter = self.filter(filters).filter(|filter| filter.to_string().len() <= FILTER_BYTES);
        // If the service would reject the filter, for example because a property has the name of a keyword, DataFusion evaluates the conditions.
        if query.check(most).is_err() {
            query.filter = None;
        }
        let properties = if self.is_ordered {
            order::properties(&schema, &columns, &range, &self.types.schemas)
        } else {
            EquivalenceProperties::new(schema.clone())
        };
        let scanned = Scanned {
            store: self.store.clone(),
            table: self.table.clone(),
            query,
            columns,
            all: self.columns.clone(),
            schema,
            types: self.types.clone(),
            only: range.schema,
            needs_parts,
            is_ordered: self.is_ordered,
            limit,
        };
        Ok(Arc::new(StoreScan::new(scanned, properties)))
    }
}
