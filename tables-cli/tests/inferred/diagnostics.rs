//! Declarations for the table Things, inferred from 40 rows, 40 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;

/// 40 of 40 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key(at)]
#[row_key("deployment___Web___Web_IN_", unpadded(number), "___", digits(19, number_2))]
pub struct DeploymentWebWebIn {
    pub at: DateTime<Utc>,
    pub number: u32,
    pub number_2: u64,
    pub level: i32,
    pub message: String,
}
