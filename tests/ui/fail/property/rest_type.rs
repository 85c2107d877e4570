use std::collections::HashMap;
use table_core::Entity;

#[derive(Entity)]
#[partition_key(stream)]
#[row_key("head")]
struct Head {
    stream: String,
    #[property(rest)]
    rest: HashMap<String, String>,
}

fn main() {}
