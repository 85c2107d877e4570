//! Declarations for the table Things, inferred from 12 rows, 12 of which match.

use table_patterns::Entity;

/// 12 of 12 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("Contoso.Messages.", without(',', partition), ", Version=1.0.0.0")]
#[row_key(row)]
pub struct Row {
    pub partition: String,
    pub row: String,
    pub endpoint_name: String,
}
