use table_core::group::Many;
use table_core::{Engine, Entity, EntityGroup, Table};

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
#[row_key("empid_", employee, "_", year)]
struct Review {
    department: String,
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
}

#[derive(EntityGroup)]
#[entity_group(under = Employee)]
struct Reviews {
    reviews: Many<Review>,
}

async fn read(employees: &Table<Employee, Engine>) {
    let _ = employees.read_group::<Reviews>(Employee::partition("Sales")).await;
}

fn main() {}
