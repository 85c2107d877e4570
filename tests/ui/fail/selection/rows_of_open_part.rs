use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(name, "_", year)]
struct Review {
    department: String,
    name: String,
    #[digits(4)]
    year: u16,
}

fn main() {
    Review::rows("Sales").name_is("Ada");
}
