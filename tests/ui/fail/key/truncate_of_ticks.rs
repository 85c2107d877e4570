use chrono::{DateTime, Utc};
use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(truncate(at))]
pub struct Event {
    department: String,
    at: DateTime<Utc>,
}

fn main() {}
