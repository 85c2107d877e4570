//! The forms that `docs/book/refused.md` recommends instead of rejected ones. Each form compiles and produces the key that is given on the page.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use table_core::{Entity, EntitySet, KeyPart, TableEntity, Value};

#[derive(Entity)]
#[partition_key(city)]
#[row_key(without('_', name), "_", escaped(title), "!", nick)]
struct Separated {
    city: String,
    name: String,
    title: String,
    nick: String,
}

#[derive(Entity)]
#[entity(allow(ambiguous_row_key, reason = "the layout of another program"))]
#[partition_key(city)]
#[row_key(name, "-", title)]
struct NotRead {
    city: String,
    name: String,
    title: String,
}

#[derive(Entity)]
#[entity(allow(hot_partition, reason = "few rows"))]
#[partition_key("settings")]
#[row_key(literal("id"), "_", id)]
struct Setting {
    id: u32,
}

#[derive(KeyPart, Clone, Copy, Debug, PartialEq)]
enum Region {
    #[key_part("eu")]
    Europe,
    #[key_part("us")]
    America,
}

#[derive(Entity)]
#[entity(allow(low_cardinality, reason = "two regions, each with many tenants"))]
#[partition_key(region, tenant)]
#[row_key(desc(at), "_", name)]
struct Located {
    region: Region,
    tenant: String,
    at: DateTime<Utc>,
    name: String,
}

#[derive(Entity)]
#[entity(allow(many_buckets, reason = "every read names its user"))]
#[partition_key(bucket(folded(lower, user), 4096))]
#[row_key(hash(crc32, 8, upper, replaced('/', '_', path)), "_", first(3, user))]
struct Cut {
    user: String,
    path: String,
}

#[derive(Entity)]
#[partition_key(truncate(pattern("yyyyMM", at)), "_", tenant)]
#[row_key(truncate(pattern("dd HH:mm", at)), "_", folded(lower, tenant))]
struct CutTwice {
    at: DateTime<Utc>,
    tenant: String,
}

#[derive(Entity, Debug)]
#[entity(table = "Accounts")]
#[partition_key(tenant)]
#[row_key("A_", id)]
struct Active {
    tenant: String,
    id: u32,
}

#[derive(Entity, Debug)]
#[entity(table = "Accounts")]
#[partition_key(tenant)]
#[row_key("B_", id)]
struct Closed {
    tenant: String,
    id: u32,
}

#[derive(EntitySet, Debug)]
enum Account {
    Active(Active),
    Closed(Closed),
    #[other]
    Other(TableEntity),
}

/// Fields with names that are also the names of methods and modules.
#[derive(Entity)]
#[partition_key(table)]
#[row_key(key, "_", rows)]
struct Named {
    table: String,
    #[digits(4)]
    key: u16,
    rows: u32,
    partition: i32,
    value: i32,
    etag: String,
    get: bool,
    query: i64,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

fn text(key: table_core::Result<table_core::EntityKey>) -> (String, String) {
    let key = key.unwrap();
    (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned())
}

pub fn main() {
    let at: DateTime<Utc> = "2024-02-28T09:05:07Z".parse().unwrap();
    let owned = |keys: (&str, &str)| (keys.0.to_owned(), keys.1.to_owned());
    for (key, literal) in [
        (Separated::key("Oslo", "Ada", "a!b", "x_y").key(), ("Oslo", "Ada_a\"xb!x_y")),
        (NotRead::key("Oslo", "a-b", "c").key(), ("Oslo", "a-b-c")),
        (Setting::key(7).key(), ("settings", "id_0000000007")),
        (Located::key(Region::Europe, "shop", at, "x").key(), ("eu!shop!", "2516931896929999999_x")),
        (Cut::key("Ada", "a/b").key(), ("0233", "28CB39EA_Ada")),
        (CutTwice::key(at, "Shop").key(), ("202402_Shop", "28 09:05_shop")),
        (Named::key("t", 7, 8).key(), ("t", "0007_0000000008")),
    ] {
        assert_eq!(text(key), owned(literal));
    }
}
