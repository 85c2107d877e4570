//! Declarations for the table Things, inferred from 50 rows, 50 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;

/// 50 of 50 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key("_LM_W3SVC_1_ROOT")]
#[row_key(desc(at))]
pub struct Row {
    pub at: DateTime<Utc>,
    pub application_name: String,
    pub error_id: String,
    pub host_name: String,
    pub status_code: i32,
    pub time_utc: DateTime<Utc>,
    pub all_xml: String,
}
