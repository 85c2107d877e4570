//! The stored schemas of a table for commands that only read. A schema this version cannot read does not prevent them from reading the table.

use table_core::schema::StoredSchema;
use table_core::{DynTableStore, TableName};
use table_inspect::keys::{self, Stored};

use crate::failure::Result;
use crate::terminal::print_line;

/// The stored schemas of one table, one per entity type.
#[derive(Debug)]
pub(crate) struct Schemas(pub(crate) Vec<Stored>);

/// Reads the stored schemas of a table.
///
/// # Errors
/// Any error from the store.
pub(crate) async fn of_table(store: &DynTableStore, table: &TableName) -> Result<Schemas> {
    let mut stored = keys::stored_schemas(store).await?;
    stored.retain(|stored| stored.table == table.folded());
    Ok(Schemas(stored))
}

/// Reads the stored schemas that may describe rows of a table: those of the table itself, and those of tables that may store an index in it.
///
/// # Errors
/// Any error from the store.
pub(crate) async fn of_rows(store: &DynTableStore, table: &TableName) -> Result<Schemas> {
    let mut stored = keys::stored_schemas(store).await?;
    stored.retain(|stored| stored.may_describe(table));
    Ok(Schemas(stored))
}

impl Schemas {
    /// Returns the schemas that this version can read.
    pub(crate) fn readable(self) -> Vec<StoredSchema> {
        self.0.into_iter().filter_map(|stored| stored.schema.ok()).collect()
    }

    /// Prints a note for each schema that this version cannot read. Returns the readable schemas.
    pub(crate) fn noted(self) -> Vec<StoredSchema> {
        for stored in &self.0 {
            if let Err(error) = &stored.schema {
                let (entity, table) = (&stored.entity, &stored.table);
                print_line(format_args!("note: the schema of {entity} in {table} cannot be read: {error}"));
            }
        }
        self.readable()
    }
}
