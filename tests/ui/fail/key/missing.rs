use table_core::Entity;

#[derive(Entity)]
pub struct Employee {
    department: String,
    id: u32,
    age: i32,
}

fn main() {}
