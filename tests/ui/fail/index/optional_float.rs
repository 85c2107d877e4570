use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByRating, row_key("rating_", rating, "_", id))]
pub struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    rating: Option<f32>,
}

fn main() {}
