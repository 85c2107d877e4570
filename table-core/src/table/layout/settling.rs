//! Clears the `settling` flag of a stored schema. While the flag is set, older programs may not know some of the schema's optional properties.

use table_store::Result;

use crate::etag::IfMatch;
use crate::name::TableName;
use crate::operation::OperationKind;
use crate::schema::StoredSchema;
use crate::store::TableStore;
use crate::table::layout::record;
use crate::table::request;

/// Clears the `settling` flag. Call this once every program has read the schema. If another program has since changed the record, the flag remains set, and the
/// next program waits again.
pub(super) async fn settle<S: TableStore>(store: &S, table: &TableName, design: &StoredSchema) -> Result<()> {
    let Some(mut layout) = record::read(store, table, &design.entity).await? else { return Ok(()) };
    if !layout.settling || !layout.compare(design).is_same() {
        return Ok(());
    }
    layout.settling = false;
    let kind = OperationKind::Replace(layout.to_row(table)?, IfMatch::ETag(layout.etag.clone()));
    match request::write(store, &record::table()?, record::key(table, &design.entity)?, kind).await {
        Err(error) if !error.is_conflict() => Err(error),
        _ => Ok(()),
    }
}
