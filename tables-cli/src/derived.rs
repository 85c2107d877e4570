//! Derived rows: tables whose entities declare indexes, copies or feeds, which a write of plain rows would make inconsistent.

use table_core::{DynTableStore, TableName};

use crate::failure::{Failure, Result};
use crate::keys;

/// Refuses a write of plain rows if a stored schema declares derived rows.
///
/// # Errors
/// `Refused` with the declarations of the schema; any error of the store.
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
