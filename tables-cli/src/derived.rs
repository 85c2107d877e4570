//! Derived rows: tables whose entities keep indexes, copies or feeds, which a write of plain rows would leave wrong.

use table_core::{DynTableStore, TableName};

use crate::failure::{Failure, Result};
use crate::keys;

/// Refuses a write of plain rows where a stored schema declares rows that follow from others.
///
/// # Errors
/// `Refused` with what the schema declares; the errors of the store.
pub async fn refuse_plain_writes(store: &DynTableStore, table: &TableName, raw_rows: bool) -> Result<()> {
    if raw_rows {
        return Ok(());
    }
    for schema in keys::schemas(store, table).await? {
        let indexes = schema.indexes.iter().map(|index| format!("index {}", index.name));
        let declared: Vec<_> = indexes.chain(schema.keeps.iter().cloned()).collect();
        if !declared.is_empty() {
            return Err(Failure::Refused(format!(
                "{} of table {table} declares {}; plain rows would leave these wrong. Write through a program with the declaration, or \
                 give `--raw-rows` and rebuild them afterwards",
                schema.entity,
                declared.join(", "),
            )));
        }
    }
    Ok(())
}
