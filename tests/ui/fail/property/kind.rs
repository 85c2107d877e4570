use table_core::Entity;

#[derive(Entity)]
#[entity(kind = "")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
    entity_type: String,
}

fn main() {}
