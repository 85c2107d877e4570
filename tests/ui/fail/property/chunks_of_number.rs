use table_core::Entity;

#[derive(Entity)]
#[partition_key(grain)]
#[row_key("state")]
struct State {
    grain: String,
    #[property(chunks)]
    count: i64,
}

fn main() {}
