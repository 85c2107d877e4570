//! Declarations for the table Things, inferred from 20 rows, 20 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;
use uuid::Uuid;

/// 20 of 20 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key("Shop.Orders")]
#[row_key(desc(at), ".", id)]
pub struct Row {
    pub at: DateTime<Utc>,
    pub id: Uuid,
    pub level: String,
    pub elapsed: f64,
}
