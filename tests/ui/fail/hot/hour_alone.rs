use chrono::{DateTime, Utc};
use table_core::Entity;

#[derive(Entity)]
#[partition_key(hour(at))]
#[row_key(id)]
pub struct Event {
    at: DateTime<Utc>,
    id: u32,
}

fn main() {}
