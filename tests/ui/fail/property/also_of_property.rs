use table_core::Entity;

#[derive(Entity)]
#[partition_key(stream)]
#[row_key("head")]
struct Head {
    stream: String,
    #[property(also)]
    version: u32,
}

fn main() {}
