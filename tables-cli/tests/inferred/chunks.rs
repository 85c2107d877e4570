//! Declarations for the table Things, inferred from 6 rows, 6 of which match.

use table_patterns::Entity;

/// 6 of 6 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("actor_", digits(3, number))]
#[row_key("State")]
pub struct State {
    pub number: u32,
    #[property(chunks)]
    pub data: Vec<u8>,
}
