use chrono::NaiveDate;
use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("MMddyyyy", day))]
struct Event {
    department: String,
    day: NaiveDate,
}

fn main() {
    let day = NaiveDate::MIN;
    Event::rows("Sales").day(day..);
}
