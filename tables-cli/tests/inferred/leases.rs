//! Declarations for the table Things, inferred from 16 rows, 16 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;

/// 16 of 16 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key("")]
#[row_key("hub-control-", digits(2, number))]
pub struct HubControl {
    pub number: u32,
    pub current_owner: String,
    pub expires_at: DateTime<Utc>,
    pub is_draining: bool,
}
