use table_core::{Entity, EntitySet, TableEntity};

#[derive(Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

#[derive(EntitySet)]
struct Staff {
    employee: Employee,
    unknown: TableEntity,
}

fn main() {}
