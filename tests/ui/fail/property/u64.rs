use table_core::Entity;

type Cents = u64;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    salary: Cents,
}

fn main() {}
