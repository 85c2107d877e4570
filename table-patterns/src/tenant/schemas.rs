//! The stored schemas of an exported tenant. An import compares them with the schemas of the importing program.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::FutureExt;
use table_core::schema::{Compatibility, StoredSchema, compare_schemas};
use table_core::table::SchemaRecord;
use table_core::{Error, Result};

use crate::requests::{self, CONCURRENCY};
use crate::tenant::Tenant;
use crate::tenant::fault::TenantFault;
use crate::tenant::lacking::Lacking;
use crate::tenant::line::HeaderSchema;
use crate::tenant::place::Place;
use crate::unit::is_refusal;

/// The lacking parts of each type, by the index of its place and the name of the type.
pub(super) type LackingOf = BTreeMap<(usize, &'static str), Lacking>;

impl Tenant {
    /// Returns the stored schemas of the registered types for the header of an export. A type with one table per period may have several. Omits a type if the
    /// credential does not permit reading all of its schemas, for example with a signature for the exported table. An import then derives the type's index rows.
    ///
    /// # Errors
    /// `FormatTooNew` or `Corrupted` if a schema cannot be read; any other error from the stores.
    pub(super) async fn schemas(&self) -> Result<Vec<HeaderSchema>> {
        let mut schemas = Vec::new();
        for (at, place) in self.places.iter().enumerate() {
            let mut pending = BTreeMap::<String, BTreeSet<String>>::new();
            for record in records(place).await? {
                let schema = record.schema.in_table(place.name()?.as_str());
                pending.entry(schema.to_string()).or_default().extend(record.pending);
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

/// Returns the stored schemas of the registered types, in all existing tables of a place. Omits the types with a schema that the credential does not permit
/// reading.
async fn records(place: &Place) -> Result<Vec<SchemaRecord>> {
    let tables = place.existing().await?;
    let reads = tables.iter().flat_map(|table| {
        place.members.iter().map(move |member| async move {
            let entity = member.schema().entity;
            match member.schema_record(table).await {
                Err(error) if is_refusal(error.code()) => Ok((entity, Err(error))),
                record => Ok::<_, Error>((entity, Ok(record?))),
            }
        })
    });
    let reads: Vec<_> = reads.map(FutureExt::boxed).collect();
    let found = requests::in_order(reads, CONCURRENCY).await?;
    // IMPORTANT: an import considers the rows of a type complete if all schemas in the header are, so a type's schemas are all present or all omitted.
    let refused = found.iter().filter(|(_, record)| record.is_err()).map(|(entity, _)| *entity);
    let refused: BTreeSet<_> = refused.collect();
    let known = found.into_iter().filter(|(entity, _)| !refused.contains(entity));
    Ok(known.filter_map(|(_, record)| record.ok().flatten()).collect())
}
