//! Declarations for the table Things, inferred from 70 rows, 70 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;
use uuid::Uuid;

/// 56 of 70 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key(at)]
#[row_key("Information|Order {Id} placed|", id)]
pub struct InformationOrder {
    pub at: DateTime<Utc>,
    pub id: Uuid,
    pub level: String,
    pub message_template: String,
    pub rendered_message: String,
    pub data: String,
}

/// 14 of 70 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things", allow(hot_partition, reason = "the layout of existing rows"))]
#[partition_key(at)]
#[row_key("Warning|Order {Id} placed|", id)]
pub struct WarningOrder {
    pub at: DateTime<Utc>,
    pub id: Uuid,
    pub level: String,
    pub message_template: String,
    pub rendered_message: String,
    pub data: String,
}
