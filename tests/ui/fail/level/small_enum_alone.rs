use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
pub enum Stage {
    Draft,
    Final,
}

#[derive(Entity)]
#[partition_key(stage)]
#[row_key(id)]
pub struct Document {
    stage: Stage,
    id: u32,
}

fn main() {}
