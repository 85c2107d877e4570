use table_core::Entity;

#[derive(Entity)]
#[partition_key(grain)]
#[row_key("json")]
struct AsJson {
    grain: String,
    #[property(json, chunks)]
    data: String,
}

#[derive(Entity)]
#[partition_key(grain)]
#[row_key("state")]
#[index(ByGrain, unique, partition_key("grain_", grain), row_key(""), include(data))]
struct State {
    grain: String,
    #[property(chunks)]
    data: Vec<u8>,
}

#[derive(Entity)]
#[partition_key(grain)]
#[row_key("twice")]
struct Twice {
    grain: String,
    #[property(chunks)]
    data: Vec<u8>,
    data1: i32,
}

fn main() {}
