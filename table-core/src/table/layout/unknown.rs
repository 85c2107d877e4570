//! The parts of a stored schema that the running program does not know. They can be properties, indexes, a feed, or copies.

use table_store::{Error, Result};

use crate::etag::ETag;
use crate::name::TableName;
use crate::schema::StoredSchema;
use crate::table::fault::TableFault;
use crate::table::layout::known::SchemaVersion;
use crate::table::layout::record::SchemaRecord;

/// The parts of a newer schema that an older program does not know. The program may write nevertheless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnknownParts {
    /// The names of the unknown properties. Each of them is optional.
    pub(super) properties: Vec<String>,
    /// `true` if the unknown parts include indexes, a feed or copies whose backfill has not begun.
    pub(super) announced: bool,
}

/// The result of opening a table. Either the program's schema was stored, or a newer stored schema was kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Stored {
    /// The version of the program's schema, or `None` if a newer stored schema was kept.
    pub(super) own: Option<SchemaVersion>,
    /// The `ETag` of the record with the program's schema, or `None` if the store has not returned it.
    pub(super) etag: Option<ETag>,
    /// The parts of the stored schema unknown to the program.
    pub(super) unknown: UnknownParts,
    /// The names of properties declared by an earlier schema but not by the stored one.
    pub(super) removed: Vec<String>,
    /// `true` if programs with an older schema may not know some properties of the stored schema.
    pub(super) settling: bool,
}

impl Stored {
    /// Creates the result for a record that contains the program's schema. `etag` is the record's `ETag`.
    pub(super) fn own(record: &SchemaRecord, etag: Option<ETag>) -> Self {
        let (own, removed) = (Some(record.version()), record.removed_properties());
        Self { own, etag, removed, settling: record.settling, unknown: UnknownParts::default() }
    }
}

/// Returns the parts of the stored schema missing from an older program's schema.
///
/// # Errors
/// `SchemaMismatch` if the program cannot write concurrently with programs that have the stored schema.
pub(super) fn unknown_parts(
    stored: &SchemaRecord,
    own: &StoredSchema,
    table: &TableName,
) -> Result<UnknownParts> {
    let evolution = stored.compare(own);
    if evolution.can_write_concurrently((&stored.schema, own), |part| stored.awaits(part)) {
        let has = |rule: &str| evolution.changes.iter().any(|change| change.rule.id == rule);
        let is_known = |name: &str| own.properties.iter().any(|known| known.name == name);
        let names = stored.schema.properties.iter().map(|property| &property.name);
        let properties = names.filter(|name| !is_known(name)).cloned().collect();
        return Ok(UnknownParts { properties, announced: has("EVO-21") || has("EVO-31") });
    }
    let (entity, generation) = (own.entity.clone(), stored.generation);
    Err(Error::of(TableFault::OlderLayout { entity, generation, evolution }).with_table(table.as_str()))
}
