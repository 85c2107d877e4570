use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
enum Stage {
    Draft,
    Final,
}

#[derive(Entity)]
#[partition_key(stage)]
#[row_key(id)]
struct Document {
    stage: Stage,
    id: u32,
}

fn main() {}
