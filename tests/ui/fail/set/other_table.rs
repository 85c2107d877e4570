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
#[entity(table = "Reviews")]
#[partition_key(department)]
#[row_key("review_", year)]
struct Review {
    department: String,
    year: u16,
}

#[derive(EntitySet)]
enum Staff {
    Employee(Employee),
    Review(Review),
    #[other]
    Unknown(TableEntity),
}

fn main() {}
