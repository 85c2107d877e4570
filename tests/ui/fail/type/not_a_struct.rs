use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
enum Employee {
    Permanent { department: String, id: u32 },
}

fn main() {}
