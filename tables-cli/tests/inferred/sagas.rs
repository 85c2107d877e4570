//! Declarations for the table Things, inferred from 16 rows, 16 of which match.

use table_patterns::Entity;
use uuid::Uuid;

/// 8 of 16 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", kind = "Saga")]
#[partition_key(guid(simple, id))]
#[row_key("0001")]
pub struct Saga {
    pub id: Uuid,
    pub revision: i32,
    pub body: String,
}

/// 8 of 16 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", kind = "SagaIndex")]
#[partition_key("index|", unpadded(number))]
#[row_key("number")]
pub struct SagaIndex {
    pub number: u32,
    pub saga_id: Uuid,
}
