use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee<T> {
    department: String,
    id: u32,
    note: T,
}

fn main() {}
