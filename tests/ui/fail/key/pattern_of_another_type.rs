use chrono::{DateTime, Utc};
use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("HH:mm", at))]
pub struct Event {
    department: String,
    at: DateTime<Utc>,
}

fn main() {}
