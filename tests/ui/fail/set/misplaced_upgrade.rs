use table_core::{Entity, EntitySet, TableEntity};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
}

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
    #[other]
    #[upgrade(from = Employee)]
    Other(TableEntity),
}

fn main() {}
