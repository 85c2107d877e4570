use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(codec(Pattern<5>, id))]
struct Event {
    department: String,
    id: u32,
}

fn main() {}
