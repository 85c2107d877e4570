//! Declarations for the table Things, inferred from 27 rows, 27 of which match.

use table_patterns::Entity;

/// 24 of 27 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("order-", partition)]
#[row_key("SS-SE-", digits(10, number))]
pub struct SsSe {
    pub partition: String,
    pub number: u64,
    pub version: i32,
    pub type_: String,
    pub data: String,
}

/// 3 of 27 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("order-", partition)]
#[row_key("SS-HEAD")]
pub struct SsHead {
    pub partition: String,
    pub version: i32,
}
