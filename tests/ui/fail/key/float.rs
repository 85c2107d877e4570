use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(weight)]
pub struct Employee {
    department: String,
    weight: f64,
}

fn main() {}
