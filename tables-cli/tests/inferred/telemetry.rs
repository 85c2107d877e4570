//! Declarations for the table Things, inferred from 80 rows, 80 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;

/// 80 of 80 rows.
///
/// `number` is inferred from 4 different values; compare it with more rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("device-", digits(3, number))]
#[row_key(desc(at), "_", digits(2, number_2))]
pub struct Row {
    pub number: u32,
    pub at: DateTime<Utc>,
    pub number_2: u32,
    pub temperature: f64,
    pub humidity: Option<i32>,
}
