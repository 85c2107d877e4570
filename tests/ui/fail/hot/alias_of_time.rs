use chrono::{DateTime, Utc};
use table_core::Entity;

type Moment = DateTime<Utc>;

#[derive(Entity)]
#[partition_key("day_", day)]
#[row_key(id)]
pub struct Event {
    day: Moment,
    id: u32,
}

fn main() {}
