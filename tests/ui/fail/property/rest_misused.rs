use std::collections::BTreeMap;
use table_core::{Entity, Value};

#[derive(Entity)]
#[partition_key(stream)]
#[row_key("head")]
struct Head {
    stream: String,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
    #[property(rest)]
    more: BTreeMap<String, Value>,
}

#[derive(Entity)]
#[partition_key(stream)]
#[row_key("named")]
struct Named {
    stream: String,
    #[property("Rest", rest)]
    rest: BTreeMap<String, Value>,
}

#[derive(Entity)]
#[partition_key(stream)]
#[row_key("json")]
struct AsJson {
    stream: String,
    #[property(rest, json)]
    rest: BTreeMap<String, Value>,
}

#[derive(Entity)]
#[partition_key(stream)]
#[row_key(rest)]
struct InKey {
    stream: String,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

fn main() {}
