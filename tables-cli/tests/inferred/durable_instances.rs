//! Declarations for the table Things, inferred from 30 rows, 30 of which match.

use chrono::{DateTime, Utc};
use table_patterns::Entity;
use uuid::Uuid;

/// 30 of 30 rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key(guid(simple, id))]
#[row_key("")]
pub struct Row {
    pub id: Uuid,
    pub execution_id: String,
    pub name: String,
    pub version: String,
    pub input: String,
    pub created_time: DateTime<Utc>,
    pub last_updated_time: DateTime<Utc>,
    pub runtime_status: String,
    pub task_hub_name: String,
    pub output: Option<String>,
    pub completed_time: Option<DateTime<Utc>>,
}
