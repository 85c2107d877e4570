//! The stored schemas of an exported tenant. An import compares them with the schemas of the importing program.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::FutureExt;
use table_core::schema::{Compatibility, EntitySchema, StoredSchema, compare_schemas};
use table_core::{Error, Result};

use crate::index::note;
use crate::requests::{self, CONCURRENCY};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::lacking::Lacking;
use crate::tenant::line::HeaderSchema;
use crate::tenant::place::Place;
use crate::unit::is_refusal;

/// The parts of each type's schema whose rows may be missing from the export, by the index of the location and the name of the type.
pub(super) type LackingOf = BTreeMap<(usize, &'static str), Lacking>;

impl Tenant {
    /// Returns the stored schemas of the registered types for the header of an export. A type with one table per period may have several. If the credential
    /// does not permit reading a stored schema, for example because it is a SAS for the exported table, returns the schema that this program declares instead.
    ///
    /// # Errors
    /// `FormatTooNew` or `Corrupted` if a schema cannot be read; any other error from the stores.
    pub(super) async fn schemas(&self) -> Result<Vec<HeaderSchema>> {
        let mut schemas = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            let mut pending = BTreeMap::<String, BTreeSet<String>>::new();
            for (schema, parts) in stored(place).await? {
                let schema = schema.in_table(place.name()?.as_str());
                pending.entry(schema.to_string()).or_default().extend(parts);
            }
            schemas.extend(pending.into_iter().map(|(schema, pending)| HeaderSchema {
                place: at,
                schema,
                pending: pending.into_iter().collect(),
            }));
        }
        Ok(schemas)
    }

    /// Compares the schemas of an export with the schemas of the registered types. Returns the parts for which the import must derive rows.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program could not read the exported rows of a type; `FormatTooNew` or `Corrupted` if a schema cannot be read.
    pub(super) fn lacking(&self, exported: &[HeaderSchema]) -> Result<LackingOf> {
        let mut stored = Vec::with_capacity(exported.len());
        for HeaderSchema { place, schema, pending } in exported {
            stored.push((*place, schema.parse::<StoredSchema>()?, pending));
        }
        let mut lacking = LackingOf::new();
        for (at, place) in self.places.iter().enumerate() {
            for member in &place.members {
                let entity = member.schema().entity;
                let own = StoredSchema::of(member.schema()).in_table(place.name()?.as_str());
                let of_type =
                    stored.iter().filter(|(place, schema, _)| *place == at && schema.entity == entity);
                let mut lacks = Lacking { is_unknown: true, ..Lacking::default() };
                for (_, schema, pending) in of_type {
                    lacks.is_unknown = false;
                    let evolution = compare_schemas(schema, &own);
                    // An index that a later release has removed does not prevent the import of an earlier export.
                    if evolution.compatibility() > Compatibility::NeedsAcceptance {
                        let worst = evolution.changes.iter().max_by_key(|change| change.rule.compatibility);
                        let change = worst.map(ToString::to_string).unwrap_or_default();
                        let fault = TenantFault::OtherSchema { entity, change, evolution };
                        return Err(Error::of(fault).with_table(place.name()?.as_str()));
                    }
                    lacks.parts.extend(evolution.changes.into_iter().filter_map(|change| change.pending));
                    lacks.parts.extend(pending.iter().cloned());
                }
                lacking.insert((at, entity), lacks);
            }
        }
        Ok(lacking)
    }
}

/// Returns the stored schemas of the registered types in all existing tables of a location, each with its pending parts. If the credential does not permit
/// reading a schema, the result contains the declared schema in its place.
async fn stored(place: &Place) -> Result<Vec<(StoredSchema, Vec<String>)>> {
    let tables = place.existing().await?;
    let reads = tables.iter().flat_map(|table| {
        place.members.iter().map(move |member| async move {
            match member.schema_record(table).await {
                Err(error) if is_refusal(error.code()) => Ok(Some(declared(member.schema()))),
                record => Ok::<_, Error>(record?.map(|record| (record.schema, record.pending))),
            }
        })
    });
    let reads: Vec<_> = reads.map(FutureExt::boxed).collect();
    Ok(requests::in_order(reads, CONCURRENCY).await?.into_iter().flatten().collect())
}

/// Returns the schema that this program declares for a type. An export contains it in place of a stored schema that cannot be read. All of its indexes are
/// pending, because they may be incomplete.
fn declared(schema: &'static EntitySchema) -> (StoredSchema, Vec<String>) {
    let pending = schema.indexes.iter().map(|index| note(index.name)).collect();
    (StoredSchema::of(schema), pending)
}
