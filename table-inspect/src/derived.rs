//! Derived rows: tables whose entities declare indexes, copies or feeds. A write of plain rows would make these inconsistent.

use table_core::schema::StoredSchema;
use table_core::{DynTableStore, TableName};

use crate::error::{Error, Result};
use crate::keys;

/// Returns the derived rows that a schema declares: indexes, then copies and feeds.
#[must_use]
pub fn declared(schema: &StoredSchema) -> Vec<String> {
    let indexes = schema.indexes.iter().map(|index| format!("index {}", index.name));
    indexes.chain(schema.keeps.iter().cloned()).collect()
}

/// Refuses a write of plain rows if a stored schema declares derived rows.
///
/// # Errors
/// `Derived` with the declarations of the schema; any error from the store.
pub async fn refuse_plain_writes(
    store: &DynTableStore,
    table: &TableName,
    bypass_derived: bool,
) -> Result<()> {
    if bypass_derived {
        return Ok(());
    }
    for schema in keys::schemas(store, table).await? {
        let declared = declared(&schema);
        if !declared.is_empty() {
            return Err(Error::Derived(format!(
                "{} of table {table} declares {}; plain rows would leave these wrong. Write through a program with the declaration, or \
                 pass `--bypass-derived` and rebuild them afterwards",
                schema.entity,
                declared.join(", "),
            )));
        }
    }
    Ok(())
}
