use table_core::group::{Many, One};
use table_core::{Entity, EntityGroup};

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
#[entity_group(under = Review)]
struct EmployeeWithReviews {
    employee: One<Employee>,
    reviews: Many<Review>,
}

fn main() {}
