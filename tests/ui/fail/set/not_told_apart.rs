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

#[derive(Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", name)]
struct Guest {
    department: String,
    name: String,
}

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
    Guest(Guest),
    #[other]
    Unknown(TableEntity),
}

fn main() {}
