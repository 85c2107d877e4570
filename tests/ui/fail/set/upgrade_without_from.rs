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
#[entity(table = "Company", kind = "EmployeeV2")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct EmployeeV2 {
    department: String,
    #[digits(6)]
    id: u32,
}

#[derive(EntitySet)]
enum Staff {
    #[upgrade(from = Employee)]
    Employee(EmployeeV2),
    #[other]
    Unknown(TableEntity),
}

fn main() {}
