//! Declarations that opt out of a check compile, as do declarations that only appear to have a hot partition.
#![deny(warnings)]

use chrono::{DateTime, Utc};
use table_core::Entity;

#[derive(Entity)]
#[entity(allow(hot_partition, reason = "some ten rows, read together"))]
#[partition_key("settings")]
#[row_key(name)]
pub struct Setting {
    pub name: String,
    pub value: String,
}

#[derive(Entity)]
#[entity(allow(hot_partition, reason = "one writer, once an hour"))]
#[partition_key(hour(at))]
#[row_key(id)]
pub struct Report {
    pub at: DateTime<Utc>,
    pub id: u32,
}

#[derive(Entity)]
#[partition_key(hour(at), "_", bucket(id, 16))]
#[row_key(id)]
pub struct Spread {
    pub at: DateTime<Utc>,
    pub id: u32,
}

#[derive(Entity)]
#[partition_key(hour(at), "_", device)]
#[row_key(id)]
pub struct Reading {
    pub at: DateTime<Utc>,
    #[digits(6)]
    pub device: u32,
    pub id: u32,
}

// A sequence and an identity have the same type (PAT-SER). The declaration is therefore not checked.
#[derive(Entity)]
#[partition_key(employee)]
#[row_key(day)]
#[index_entity(ByKind, at_most = 500, partition_key("kind_", kind), row_key("list"))]
pub struct Series {
    pub employee: u32,
    pub day: u32,
    pub kind: u32,
}

/// Uses the declarations.
pub fn main() {
    assert_eq!(Series::SCHEMA.indexes[0].at_most, Some(500));
}
