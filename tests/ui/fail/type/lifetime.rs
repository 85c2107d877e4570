use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee<'a> {
    department: String,
    id: u32,
    note: &'a str,
}

fn main() {}
