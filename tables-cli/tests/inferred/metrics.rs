//! Declarations for the table Things, inferred from 48 rows, 48 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;

/// 48 of 48 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key("site:", unpadded(number))]
#[row_key(pattern("yyyyMMddHH", date))]
pub struct Row {
    pub number: u32,
    pub date: DateTime<Utc>,
    pub total: i64,
    pub average: Option<f64>,
}
