//! Generates the sources of both crates. They contain the same structs with different derives.

use std::fmt::Write;

/// Returns the source of structs with this project's derive. Each struct has two indexes. One copies the entire entity, and the other copies two properties.
pub(crate) fn tables(entities: usize) -> String {
    let header = "//! Entities.\n\nuse table_core::Entity;\n";
    crate_of(header, entities, |number| {
        format!(
            "#[derive(Entity)]\n\
             #[entity(table = \"Company{number}\")]\n\
             #[partition_key(department)]\n\
             #[row_key(\"empid_\", digits(6, id))]\n\
             #[index(ByEmail, unique, row_key(\"email_\", email))]\n\
             #[index(ByLastName, row_key(\"name_\", escaped(last_name), \"!\", digits(6, id)), include(email, phone))]\n"
        )
    })
}

/// Returns the source of structs with serde's derives.
pub(crate) fn serde(entities: usize) -> String {
    crate_of("//! Twins.\n\nuse serde::{Deserialize, Serialize};\n", entities, |_| {
        "#[derive(Serialize, Deserialize)]\n".to_owned()
    })
}

fn crate_of(header: &str, entities: usize, attributes: impl Fn(usize) -> String) -> String {
    let mut source = header.to_owned();
    for number in 0..entities {
        let attributes = attributes(number);
        // Writing to a `String` never fails.
        let _ = write!(source, "\n{attributes}pub struct Employee{number} {{\n{FIELDS}}}\n");
    }
    source
}

const FIELDS: &str = "    pub department: String,
    pub id: u32,
    pub first_name: String,
    pub last_name: String,
    pub email: String,
    pub phone: Option<String>,
    pub age: i32,
    pub salary: i64,
    pub rating: f64,
    pub active: bool,
";
