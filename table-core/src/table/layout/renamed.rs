//! Detects renamed entity types. If no schema is stored for a type, the type's schema is compared with the stored schemas of all other types in the table.

use table_store::Result;

use crate::bag::TableEntity;
use crate::entity::FromEntity;
use crate::mixed::is_reserved;
use crate::name::TableName;
use crate::query::{KeyRange, Query};
use crate::schema::{StoredSchema, compare_schemas};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::layout::record;
use crate::table::request;

/// Returns a fault if the schema may belong to a renamed type (EVO-32). This is the case if another stored schema of the table has the same kind and the same
/// key format. If several stored schemas match, the first one by name is reported.
pub(super) async fn find<S: TableStore>(
    store: &S,
    table: &TableName,
    design: &StoredSchema,
) -> Result<Option<TableFault>> {
    let layouts = record::table()?;
    let query = Query::new(KeyRange::partition(table.folded()));
    let mut from = None;
    loop {
        let page = match request::page(store, &layouts, &query, from.as_ref()).await {
            Ok(page) => page,
            Err(error) if error.is_table_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        for entity in page.rows.iter().filter(|entity| !is_reserved(entity.row_key)) {
            let stored = record::schema_in(&TableEntity::from_entity(entity)?)?;
            let evolution = compare_schemas(&stored, design);
            if stored.entity != design.entity && evolution.keeps_form_of_keys() {
                let entity = design.entity.clone();
                return Ok(Some(TableFault::Renamed { entity, stored: stored.entity, evolution }));
            }
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(None);
        }
    }
}
