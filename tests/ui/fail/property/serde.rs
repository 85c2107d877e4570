//! serde attributes that would not affect how an entity is stored. They are therefore rejected.

use table_core::Entity;

#[derive(Entity, serde::Serialize)]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    #[serde(rename = "dept")]
    department: String,
    id: u32,
    #[serde(skip)] //~ T015
    cache: String,
    #[serde(rename = "mail")] //~ T015
    email: String,
    #[serde(rename = "phone")]
    #[property("Phone")]
    phone: String,
    #[serde(alias = "years")] //~ T015
    age: i32,
    #[serde(default)] //~ T015
    level: i32,
    #[sqlx(rename = "room")] //~ T015
    office: i32,
    #[serde(default)]
    chief: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn main() {}
