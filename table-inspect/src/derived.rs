//! Detection of tables with derived rows, such as index rows, copies and feed entries.
//!
//! The schema of a table can declare derived rows. A table can also store the derived rows of other tables. Plain writes would make derived rows inconsistent.

mod guard;
mod part;
mod stored_parts;

use table_core::query::Select;
use table_core::schema::StoredSchema;
use table_core::table::{FEEDS, LAYOUTS, OUTBOXES};
use table_core::{DynTableStore, EntityKey, TableName, TableStore};

use crate::error::{Error, Result};
use crate::keys;
pub use guard::{guard_writes, require_state};
pub use part::{WidePart, part_of, refuse_torn_part};
pub use stored_parts::stored_parts;

/// The PartitionKey and RowKey of the state row of a view. A table with this row contains a view.
pub const VIEW: (&str, &str) = ("view", "\u{FFFC}view_state");

/// Returns `true` for a table that registers schemas, outboxes or feeds.
#[must_use]
pub fn is_registry(table: &TableName) -> bool {
    [LAYOUTS, OUTBOXES, FEEDS].iter().any(|own| own.eq_ignore_ascii_case(table.as_str()))
}

/// Returns the derived rows declared by a schema: first indexes, then copies and feeds.
#[must_use]
pub fn declared(schema: &StoredSchema) -> Vec<String> {
    let indexes = schema.indexes.iter().map(|index| format!("index {}", index.name));
    indexes.chain(schema.keeps.iter().cloned()).collect()
}

/// Returns the derived rows that a schema declares outside the entity's partition. They are copies, feeds, and indexes with a separate PartitionKey or table.
///
/// Feed entries are in the entity's partition. However, partitions with a feed are listed in a separate table.
#[must_use]
pub fn remote(schema: &StoredSchema) -> Vec<String> {
    let is_remote =
        |index: &&table_core::schema::StoredIndex| index.table.is_some() || index.partition_key.is_some();
    let indexes = schema.indexes.iter().filter(is_remote).map(|index| format!("index {}", index.name));
    indexes.chain(schema.keeps.iter().cloned()).collect()
}

/// Returns a description of a table that contains only derived rows. Such a table is a registry, an index of another table, or a view. Returns `None` for other
/// tables.
///
/// # Errors
/// - Any error from the store.
/// - `Corrupted` or `FormatTooNew` if this version cannot read a schema that may describe the table. It may be a schema of this table, or a schema whose text
///   names this table. If the table has no schema, it may be any schema.
pub async fn purpose(store: &DynTableStore, table: &TableName) -> Result<Option<String>> {
    if is_registry(table) {
        return Ok(Some(format!("table {table} stores the registrations of programs")));
    }
    let stored = keys::stored_schemas(store).await?;
    let has_schema = stored.iter().any(|stored| stored.table == table.folded());
    for stored in stored {
        let may_describe = stored.may_describe(table) || !has_schema;
        match stored.schema {
            Ok(schema) => {
                if let Some(purpose) = index_in(&schema, table) {
                    return Ok(Some(purpose));
                }
            }
            Err(error) if may_describe => return Err(error),
            Err(_) => {}
        }
    }
    let state = EntityKey::new(VIEW.0, VIEW.1)?;
    match store.get(table, &state, &Select::names(["PartitionKey"])).await {
        Ok(Some(_)) => Ok(Some(format!("table {table} stores a view"))),
        Ok(None) => Ok(None),
        Err(error) if error.is_table_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns a description of the table if `schema` belongs to another table but stores an index in this one.
#[must_use]
pub fn index_in(schema: &StoredSchema, table: &TableName) -> Option<String> {
    let is_in = |name: &str| name.eq_ignore_ascii_case(table.as_str());
    let index = schema.indexes.iter().find(|index| index.table.as_deref().is_some_and(is_in));
    let index = index.filter(|_| !is_in(&schema.table))?;
    let (name, entity, of) = (&index.name, &schema.entity, &schema.table);
    Some(format!("table {table} stores index {name} of {entity} in table {of}"))
}

/// Checks that plain rows may be written to a table. No stored schema of the table may declare derived rows, and the table must not consist of derived rows.
///
/// If `bypass_derived` is `true`, nothing is checked.
///
/// # Errors
/// - `Derived` if the check fails. The error contains the declarations, or the table's [`purpose`].
/// - Any error from [`purpose`].
pub async fn refuse_plain_writes(
    store: &DynTableStore,
    table: &TableName,
    bypass_derived: bool,
) -> Result<()> {
    if bypass_derived {
        return Ok(());
    }
    refuse_declared(store, table).await?;
    match purpose(store, table).await? {
        None => Ok(()),
        Some(purpose) => Err(Error::Derived(format!(
            "{purpose}; plain rows would leave these wrong. Write the entities from which they are derived, or pass `--bypass-derived` and \
             rebuild them afterwards"
        ))),
    }
}

/// Checks that no stored schema of a table declares derived rows.
///
/// # Errors
/// - `Derived` if a schema declares derived rows. The error contains the declarations.
/// - Any error from the store.
pub async fn refuse_declared(store: &DynTableStore, table: &TableName) -> Result<()> {
    refuse_declarations(table, &keys::schemas(store, table).await?)
}

/// Checks that none of a table's schemas declares derived rows.
///
/// # Errors
/// `Derived` if a schema declares derived rows. The error contains the declarations of the first such schema.
pub fn refuse_declarations(table: &TableName, schemas: &[StoredSchema]) -> Result<()> {
    for schema in schemas {
        let declared = declared(schema);
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

#[cfg(test)]
mod tests {
    use table_core::{BlockOn, Engine, TableEntity, TableStoreExt};

    use super::*;

    /// A schema that declares an index in another table. It also contains a line that only later releases write.
    const LATER: &str = "schema 1\nentity Later\ntable Lates\nPartitionKey p text 0..512 ordered legal\nproperty Names Edm.String\n\
        index ByCity copies sparse\nindex ByCity table Cities\nindex ByCity RowKey Town text 0..512 ordered legal\n\
        elsewhere Directory\nindex ByCity mirror Mirrors\n";
    /// A schema in a format that only later releases can read.
    const NEWER: &str =
        "schema 99\nentity Newer\ntable News\nPartitionKey p text 0..512 ordered legal\nelsewhere Bulletin\n";
    const OWN: &str = "schema 1\nentity Own\ntable Owns\nPartitionKey p text 0..512 ordered legal\n";

    #[test]
    fn an_unreadable_schema_refuses_only_tables_that_it_may_describe() {
        async {
            let engine = Engine::in_memory();
            let layouts = engine.untyped(LAYOUTS).unwrap().create_if_missing().await.unwrap();
            layouts.insert(&TableEntity::new("lates", "E").unwrap().with("Schema", LATER)).await.unwrap();
            layouts.insert(&TableEntity::new("news", "E").unwrap().with("Schema", NEWER)).await.unwrap();
            // Some of these table names occur as ordinary words in the schema texts.
            let others = [
                "Owns",
                "Text",
                "Index",
                "Ordered",
                "Table",
                "PartitionKey",
                "ByCity",
                "Town",
                "Names",
                "Later",
                "Schema",
            ];
            let described = ["Directory", "Cities", "Mirrors", "Bulletin"];
            for table in others.iter().chain(&described) {
                let own = TableEntity::new(table.to_ascii_lowercase(), "E").unwrap().with("Schema", OWN);
                layouts.insert(&own).await.unwrap();
            }
            let store = DynTableStore::new(engine);
            let refused = described.into_iter().chain(["Lates", "News", "Plain"]);
            for (table, is_written) in
                others.map(|table| (table, true)).into_iter().chain(refused.map(|table| (table, false)))
            {
                let found = refuse_plain_writes(&store, &TableName::new(table).unwrap(), false).await;
                assert_eq!(found.is_ok(), is_written, "{table}: {found:?}");
            }
        }
        .block_on();
    }
}
