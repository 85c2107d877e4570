//! Announces the row order of a scan to DataFusion.

use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::physical_expr::expressions::Column as Reference;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalSortExpr};
use table_core::schema::StoredSchema;

use crate::column::{Column, Kind, Source};
use crate::keys::{self, Range};

/// Returns the orderings of a scan whose rows are in key order, as DataFusion plan properties.
pub(crate) fn properties(
    schema: &SchemaRef,
    columns: &[Column],
    range: &Range,
    schemas: &[StoredSchema],
) -> EquivalenceProperties {
    let sorted = |source: &Source, descending: bool| {
        let at = columns.iter().position(|column| column.source == *source)?;
        let column = columns.get(at)?;
        // The text of a part may sort differently from the part itself.
        let is_text = matches!(source, Source::Part(_)) && column.kind == Kind::Text;
        // None of these columns contains nulls, so SQL's default position for nulls is used.
        let options = SortOptions { descending, nulls_first: descending };
        (!is_text).then(|| PhysicalSortExpr::new(Arc::new(Reference::new(&column.name, at)), options))
    };
    let mut orders: Vec<Vec<PhysicalSortExpr>> = Vec::new();
    let both = [Source::PartitionKey, Source::RowKey];
    // The ordering ends before the first column that the projection omits.
    orders.push(both.iter().map_while(|source| sorted(source, false)).collect());
    if range.keys.partition_key.single().is_some() {
        orders.extend(sorted(&Source::RowKey, false).map(|one| vec![one]));
        if let Some(schema) = range.schema.and_then(|at| schemas.get(at)) {
            let parts = keys::order(schema).into_iter();
            orders.push(
                parts.map_while(|(part, descending)| sorted(&Source::Part(part), descending)).collect(),
            );
        }
    }
    orders.retain(|order| !order.is_empty());
    EquivalenceProperties::new_with_orderings(schema.clone(), orders)
}
