use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByName, row_key("name_", name, "_", id))]
pub struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    name: String,
}

fn main() {}
