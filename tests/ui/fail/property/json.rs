use std::collections::BTreeMap;
use table_core::Entity;

struct Address {
    city: String,
}

#[derive(serde::Serialize)]
struct Tags(Vec<String>);

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    id: u32,
    #[property(json)]
    address: Address, //~ T050
    #[property(json)]
    tags: Tags, //~ T050
    #[property(json)]
    known: BTreeMap<String, u32>,
}

fn main() {}
