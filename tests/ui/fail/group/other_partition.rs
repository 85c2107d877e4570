use table_core::group::Many;
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
#[partition_key("reviews_", department)]
#[row_key("review_", year)]
struct Review {
    department: String,
    year: u16,
}

#[derive(EntityGroup)]
struct EmployeesWithReviews {
    employees: Many<Employee>,
    reviews: Many<Review>,
}

fn main() {}
