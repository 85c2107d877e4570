use table_core::{Entity, EntitySet, TableEntity};

#[derive(Entity)]
#[entity(table = "Company", kind = "Employee")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    id: u32,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "Employee")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct EmployeeV2 {
    department: String,
    id: u32,
}

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
    EmployeeV2(EmployeeV2),
    #[other]
    Unknown(TableEntity),
}

fn main() {}
