use chrono::NaiveDate;
use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("yyyy-dd", day))]
pub struct Event {
    department: String,
    day: NaiveDate,
}

fn main() {}
