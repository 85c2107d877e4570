use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(name, "-head")]
struct Branch {
    department: String,
    name: String,
}

fn main() {
    Branch::rows("Sales").name_prefix("A");
}
