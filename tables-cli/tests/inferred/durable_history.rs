//! Declarations for the table Things, inferred from 105 rows, 105 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;
use uuid::Uuid;

/// 100 of 105 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key(guid(simple, id))]
#[row_key(row)]
pub struct Row {
    pub id: Uuid,
    pub row: String,
    pub event_id: i32,
    pub event_type: String,
    pub execution_id: String,
    pub is_played: bool,
    #[property("_Timestamp")]
    pub timestamp: DateTime<Utc>,
}

/// 5 of 105 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key(guid(simple, id))]
#[row_key("sentinel")]
pub struct Sentinel {
    pub id: Uuid,
    pub execution_id: String,
    pub checkpoint_completed_timestamp: DateTime<Utc>,
}
