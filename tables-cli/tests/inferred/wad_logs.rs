//! Declarations for the table Things, inferred from 60 rows, 60 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;

/// 60 of 60 rows.
///
/// `number` is inferred from 3 different values; compare it with more rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key(at)]
#[row_key("ab12cd___Web___Web_IN_", unpadded(number), "___", digits(10, number_2), "___WADLogs")]
pub struct Row {
    pub at: DateTime<Utc>,
    pub number: u32,
    pub number_2: u64,
    pub event_tick_count: i64,
    pub deployment_id: String,
    pub role: String,
    pub role_instance: String,
    pub level: i32,
    pub message: String,
    pub precise_time_stamp: DateTime<Utc>,
}
