//! Declarations for the table Things, inferred from 40 rows, 40 of which match.

use table_patterns::Entity;

/// 40 of 40 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("orders_", grain_ref_consistent_hash)]
#[row_key("GrainReference_", without('-', row), "-close")]
pub struct GrainReference {
    #[property(also)]
    pub grain_ref_consistent_hash: String,
    pub row: String,
    pub service_id: String,
    pub deployment_id: String,
    pub grain_reference: String,
    pub reminder_name: String,
    pub start_at: String,
    pub period: String,
}
