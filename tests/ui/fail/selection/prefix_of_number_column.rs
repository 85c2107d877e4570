use table_core::Entity;

#[derive(Entity)]
#[partition_key(user)]
#[row_key(id)]
struct Event {
    user: String,
    id: u32,
    age: i32,
}

fn main() {
    let _ = Event::AGE.starts_with("1");
}
