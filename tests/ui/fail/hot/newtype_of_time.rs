use chrono::{DateTime, Utc};
use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
pub struct Moment(DateTime<Utc>);

#[derive(Entity)]
#[partition_key(desc(at))]
#[row_key(id)]
pub struct Event {
    at: Moment,
    id: u32,
}

fn main() {}
