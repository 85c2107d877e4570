//! The parts of a stored schema that the program does not know.

use table_store::{Error, Result};

use crate::name::TableName;
use crate::schema::{StoredSchema, compare_schemas};
use crate::table::fault::TableFault;
use crate::table::layout::record::SchemaRecord;

/// The parts of a newer schema that are unknown to a program which may still write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnknownParts {
    /// `true` if the unknown parts include optional properties.
    pub(super) properties: bool,
    /// `true` if the unknown parts include indexes, a feed or copies whose backfill has not begun.
    pub(super) announced: bool,
}

/// The stored schema, after a comparison with the schema of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    /// The parts of the stored schema that the program does not know.
    pub(super) unknown: UnknownParts,
    /// `true` if programs with an older schema may not know all properties of the stored schema.
    pub(super) settling: bool,
}

/// Returns the declarations of the stored schema that an older program's schema lacks.
///
/// # Errors
/// `SchemaMismatch` if the program cannot write at the same time as programs with the stored schema.
pub(super) fn unknown_parts(
    stored: &SchemaRecord,
    own: &StoredSchema,
    table: &TableName,
) -> Result<UnknownParts> {
    let evolution = compare_schemas(&stored.schema, own);
    if evolution.can_write_concurrently((&stored.schema, own), |part| stored.awaits(part)) {
        let has = |rule: &str| evolution.changes.iter().any(|change| change.rule.id == rule);
        return Ok(UnknownParts { properties: has("EVO-3"), announced: has("EVO-21") || has("EVO-31") });
    }
    let (entity, generation) = (own.entity.clone(), stored.generation);
    Err(Error::of(TableFault::OlderLayout { entity, generation, evolution }).with_table(table.as_str()))
}
