use table_core::{Entity, EntitySet, Table, TableEntity, TableStore};

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
    #[other]
    Other(TableEntity),
}

async fn write(table: &Table<Staff, impl TableStore>, staff: &Staff) {
    let _ = table.insert(staff).await;
}

fn main() {}
