//! Checks that this program is aware of all rows that a type's stored schema declares in other partitions or tables.

use table_core::entity::Entity;
use table_core::schema::{StoredIndex, StoredSchema};
use table_core::store::TableStore;
use table_core::table::Table;
use table_core::{Error, Result};

use crate::tenant::fault::TenantFault;

/// Checks that this program is aware of all rows that a type's stored schema declares in other partitions or tables.
///
/// # Errors
/// `SchemaMismatch` if this program is unaware of some of these rows; any error from the store.
pub(super) async fn check<E: Entity, S: TableStore>(table: &Table<E, S>) -> Result<()> {
    let Some(record) = table.schema_record().await? else { return Ok(()) };
    let (entity, name) = (E::SCHEMA.entity, table.name()?.as_str());
    match unknown_elsewhere(&record.schema, &StoredSchema::of(E::SCHEMA).in_table(name)) {
        Some(part) => Err(Error::of(TenantFault::Newer { entity, part }).with_table(name)),
        None => Ok(()),
    }
}

/// Returns the first part of the stored schema, such as `index ByOwner`, that has rows in other partitions or tables and that this program does not declare
/// identically. Returns `None` if the program is aware of all such rows.
fn unknown_elsewhere(stored: &StoredSchema, own: &StoredSchema) -> Option<String> {
    let is_elsewhere = |index: &&StoredIndex| index.table.is_some() || index.partition_key.is_some();
    let mut indexes = stored.indexes.iter().filter(is_elsewhere);
    let index = indexes.find(|index| !own.indexes.iter().any(|own| has_same_rows(own, index)));
    // A feed's entries are in the entity's partition, so an unknown feed does not count.
    let is_unknown = |word: &&String| *word != "feed" && !own.keeps.contains(word);
    index
        .map(|index| format!("index {}", index.name))
        .or_else(|| stored.keeps.iter().find(is_unknown).cloned())
}

/// Returns `true` if two indexes have the same name and kind, and rows with the same keys.
fn has_same_rows(one: &StoredIndex, other: &StoredIndex) -> bool {
    (&one.name, one.kind) == (&other.name, other.kind)
        && (&one.table, &one.partition_key, &one.row_key)
            == (&other.table, &other.partition_key, &other.row_key)
}
