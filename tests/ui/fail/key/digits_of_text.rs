use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("name_", name)]
pub struct Employee {
    department: String,
    #[digits(6)]
    name: String,
}

fn main() {}
