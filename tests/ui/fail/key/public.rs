use table_core::Entity;

#[derive(Entity)]
#[partition_key(region)]
#[row_key("empid_", id)]
pub struct Employee {
    pub region: Option<String>,
    #[digits(6)]
    pub id: u32,
}

fn main() {}
