use chrono::{DateTime, NaiveDate, Utc};
use table_core::Entity;

#[derive(Entity)]
#[partition_key(day, at)]
#[row_key(id)]
pub struct Event {
    day: NaiveDate,
    at: DateTime<Utc>,
    id: u32,
}

fn main() {}
