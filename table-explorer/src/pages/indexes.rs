//! Reading of index states.

use table_core::query::KeyRange;
use table_core::{Query, TableName};
use table_inspect::keys::SCHEMAS;

use crate::failure::{Failure, Result};
use crate::index_state::{self, IndexState, Phase};
use crate::pages::Context;

/// Reads the states of a table's indexes with one request, or none if no index is declared, and caches them. Other pages show the cached states and the time
/// they were read.
pub(crate) async fn states(context: &Context<'_>, table: &TableName) -> Result<Vec<IndexState>> {
    if context.known.of(table).all(|schema| schema.indexes.is_empty()) {
        return Ok(Vec::new());
    }
    let query = Query::new(KeyRange::partition(table.folded()));
    let rows = match context.reader.first(&TableName::new(SCHEMAS)?, &query).await {
        Err(Failure::Store(error)) if error.is_table_not_found() => Vec::new(),
        page => page?.rows,
    };
    let mut found = Vec::new();
    for schema in context.known.of(table) {
        let row = rows.iter().find(|row| row.key().row_key.as_str() == schema.entity);
        for index in &schema.indexes {
            let phase = row.map_or(Phase::Unknown, |row| index_state::phase(row, &index.name));
            found.push(IndexState { entity: schema.entity.clone(), index: index.name.clone(), phase });
        }
    }
    context.state.catalog.keep_states(table, &found);
    Ok(found)
}
