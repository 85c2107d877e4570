//! Declarations for the table Things, inferred from 30 rows, 30 of which match.

use table_patterns::Entity;
use uuid::Uuid;

/// 30 of 30 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("emulator:conversations:", id)]
#[row_key("users:", id_2)]
pub struct Users {
    pub id: Uuid,
    pub id_2: Uuid,
    pub data: String,
    pub e_tag: String,
    pub turns: i32,
}
