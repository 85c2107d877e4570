//! Detects rows that match none of the stored schemas.

use table_core::schema::{ENTITY_TYPE, StoredSchema};
use table_core::{EntityKey, TableEntity, Value};

use crate::audit::finding::Finding;
use crate::audit::wide;
use table_inspect::keys;
use table_inspect::kind::{self, Kind};

/// Checks a table's rows against the stored schemas. Every row must match a schema, either as an entity of the table or as an index row stored in it.
#[derive(Debug)]
pub(in crate::audit) struct Explained {
    table: String,
    schemas: Vec<(String, StoredSchema)>,
    has_entities: bool,
    unexplained: Finding,
    mistyped: Finding,
}

impl Explained {
    /// Creates the check. `schemas` contains the schemas of all tables, each paired with its lower-case table name.
    pub(in crate::audit) fn new(table: &str, schemas: Vec<(String, StoredSchema)>) -> Self {
        let names: Vec<_> = entities(table, &schemas).map(|schema| schema.entity.as_str()).collect();
        let unexplained = Finding::new(
            "PAT-HET-6",
            format!("rows whose keys no declared type explains ({})", names.join(", ")),
            "declare their type; typed programs cannot read them",
        );
        let mistyped = Finding::new(
            "TYPE-12",
            "rows whose keys a declared type explains, with a property that is missing or of another type",
            "write the property in its declared type, or declare it `Option`",
        );
        let has_entities = !names.is_empty();
        Self { table: table.to_owned(), schemas, has_entities, unexplained, mistyped }
    }

    pub(in crate::audit) fn push(&mut self, row: &TableEntity) {
        if !self.has_entities {
            return;
        }
        let (whole, number) = wide::whole_of(row).map_or((None, 1), |(whole, number)| (Some(whole), number));
        let all = || entities(&self.table, &self.schemas);
        let fits_row = |schema: &StoredSchema| {
            let keys = [Some(row.key()), whole.as_ref()];
            keys.into_iter().flatten().any(|key| fits(schema, key))
        };
        // A row that has an `EntityType` and the keys of a type with a kind cannot belong to a type without a kind. `kind::of` applies the same rule.
        let has_typed_keys = all().any(|schema| schema.kind.is_some() && fits_row(schema));
        let is_of_unknown_type = has_typed_keys && row.get(ENTITY_TYPE).is_some();
        let has_untyped_keys = || all().any(|schema| schema.kind.is_none() && fits_row(schema));
        let may_own = |schema: &StoredSchema| match &schema.kind {
            Some(kind) => match row.get(ENTITY_TYPE) {
                Some(found) => matches!(found, Value::String(found) if found == kind),
                // Only the first part of a wide entity contains the `EntityType`.
                None => whole.as_ref().is_some_and(|whole| fits(schema, whole)) && !has_untyped_keys(),
            },
            None => !is_of_unknown_type || schema.properties.iter().any(|own| own.name == ENTITY_TYPE),
        };
        let is_entity = |schema: &StoredSchema| may_own(schema) && fits_row(schema);
        let mut explained = all().filter(|schema| is_entity(schema)).peekable();
        let is_mistyped = explained.peek().is_some();
        if explained.any(|schema| has_properties(schema, row, number > 1)) {
            return;
        }
        match kind::of(&self.table, row, &self.schemas) {
            Kind::Index(..) | Kind::Reserved(_) => {}
            Kind::Entity(_) | Kind::Unknown if is_mistyped => self.mistyped.push(row.key()),
            Kind::Entity(_) | Kind::Unknown => self.unexplained.push(row.key()),
        }
    }

    /// Appends the findings to `findings`. Returns `true` if the table's entities have a stored schema.
    pub(in crate::audit) fn finish(self, findings: &mut Vec<Finding>) -> bool {
        let found = [self.unexplained, self.mistyped];
        findings.extend(found.into_iter().filter(|finding| finding.rows > 0));
        self.has_entities
    }
}

/// Returns the schemas of a table's entity types.
fn entities<'a>(
    table: &str,
    schemas: &'a [(String, StoredSchema)],
) -> impl Iterator<Item = &'a StoredSchema> {
    kind::of_table(table, schemas).filter_map(|kind| match kind {
        Kind::Entity(schema) => Some(schema),
        Kind::Index(..) | Kind::Reserved(_) | Kind::Unknown => None,
    })
}

/// Returns `true` if `key`, the key of a row or of its wide entity, matches the schema.
fn fits(schema: &StoredSchema, key: &EntityKey) -> bool {
    keys::fits(&schema.partition_key, key.partition_key.as_str())
        && keys::fits(&schema.row_key, key.row_key.as_str())
}

/// Returns `true` if a row has the schema's properties with their declared types. Later parts of a wide entity may lack properties.
fn has_properties(schema: &StoredSchema, row: &TableEntity, is_later_part: bool) -> bool {
    schema.properties.iter().all(|property| match row.get(&property.name) {
        Some(found) => found.edm_type() == property.edm,
        None => property.optional || is_later_part,
    })
}
