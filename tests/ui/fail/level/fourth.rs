use table_core::Entity;

#[derive(Entity)]
#[partition_key(country, state, city, street)]
#[row_key(number)]
pub struct House {
    country: String,
    state: String,
    city: String,
    street: String,
    number: u32,
}

fn main() {}

// There are at most three levels (HPK-42).
