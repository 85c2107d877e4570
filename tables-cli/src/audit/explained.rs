//! Detects rows that do not match any stored schema.

use table_core::schema::StoredSchema;
use table_core::{EntityKey, TableEntity, Value};

use crate::audit::finding::Finding;
use table_inspect::keys;

/// Checks rows against the stored schemas of their table.
#[derive(Debug)]
pub(super) struct Explained {
    schemas: Vec<StoredSchema>,
    unexplained: Finding,
    mistyped: Finding,
}

impl Explained {
    pub(super) fn new(schemas: Vec<StoredSchema>) -> Self {
        let names: Vec<_> = schemas.iter().map(|schema| schema.entity.as_str()).collect();
        let unexplained = Finding::new(
            "PAT-HET-6",
            format!("rows whose keys no declared type explains ({})", names.join(", ")),
            "declare their type, or delete them; typed programs cannot read them",
        );
        let mistyped = Finding::new(
            "TYPE-12",
            "rows whose keys a declared type explains, with a property that is missing or of another type",
            "write the property in its declared type, or declare it `Option`",
        );
        Self { schemas, unexplained, mistyped }
    }

    pub(super) fn push(&mut self, row: &TableEntity) {
        if self.schemas.is_empty() {
            return;
        }
        let mut is_key = false;
        for schema in &self.schemas {
            if is_of(schema, row) {
                is_key = true;
                if has_properties(schema, row) {
                    return;
                }
            }
        }
        if is_key {
            self.mistyped.push(row.key());
        } else if !self.schemas.iter().any(|schema| is_index_row(schema, row.key())) {
            self.unexplained.push(row.key());
        }
    }

    /// Adds the findings. Returns `true` if the table has stored schemas.
    pub(super) fn finish(self, findings: &mut Vec<Finding>) -> bool {
        let found = [self.unexplained, self.mistyped];
        findings.extend(found.into_iter().filter(|finding| finding.rows > 0));
        !self.schemas.is_empty()
    }
}

/// Returns `true` if the key and the `EntityType` of a row match a schema.
fn is_of(schema: &StoredSchema, row: &TableEntity) -> bool {
    let kind = match row.get(table_core::schema::ENTITY_TYPE) {
        Some(Value::String(kind)) => Some(kind),
        _ => None,
    };
    (schema.kind.is_none() || schema.kind.as_ref() == kind)
        && keys::fits(&schema.partition_key, row.key().partition_key.as_str())
        && keys::fits(&schema.row_key, row.key().row_key.as_str())
}

fn has_properties(schema: &StoredSchema, row: &TableEntity) -> bool {
    schema.properties.iter().all(|property| match row.get(&property.name) {
        Some(found) => found.edm_type() == property.edm,
        None => property.optional,
    })
}

fn is_index_row(schema: &StoredSchema, key: &EntityKey) -> bool {
    schema.indexes.iter().any(|index| {
        let partition_key = index.partition_key.as_ref().unwrap_or(&schema.partition_key);
        keys::fits(partition_key, key.partition_key.as_str())
            && keys::fits(&index.row_key, key.row_key.as_str())
    })
}
