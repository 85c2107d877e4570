use table_core::Entity;
use table_core::index::CopyIndex;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index_entity(ByName, at_most = 100, row_key("name_", name))]
pub struct Employee {
    department: String,
    id: u32,
    name: String,
}

fn copies<I: CopyIndex>() {}

fn main() {
    copies::<EmployeeByName>();
}
