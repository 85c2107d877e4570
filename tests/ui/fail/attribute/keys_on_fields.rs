use table_core::Entity;

#[derive(Entity)]
pub struct Employee {
    #[partition_key]
    pub department: String,
    #[row_key]
    pub id: u32,
}

fn main() {}
