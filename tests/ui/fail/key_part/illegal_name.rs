use table_core::{Entity, KeyPart};

#[derive(KeyPart)]
enum Stage {
    #[key_part("in/out")]
    Both,
    None,
}

#[derive(Entity)]
#[partition_key(document)]
#[row_key(stage)]
struct Review {
    document: String,
    stage: Stage,
}

fn main() {}
