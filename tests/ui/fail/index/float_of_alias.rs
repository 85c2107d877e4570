use table_core::Entity;

type Rating = f64;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByRating, row_key("rating_", rating, "_", id))]
pub struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    rating: Rating,
}

fn main() {}
