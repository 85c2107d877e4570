//! The strictest lints, on a crate whose public items are all documented.
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications, warnings)]

/// Staff.
pub mod staff {
    use table_core::Entity;

    /// Somebody.
    #[derive(Clone, Debug, Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id, "_", name)]
    pub struct Employee {
        /// Where.
        pub department: String,
        /// Who.
        pub id: u32,
        /// The name.
        pub name: String,
        /// In years.
        pub age: Option<i32>,
        email: String,
    }

    /// Uses the private field, and nothing of what is generated.
    pub fn email(employee: &Employee) -> &str {
        &employee.email
    }
}

/// Runs what compiles.
pub fn main() {
    let _ = staff::Employee::rows("Sales").id_is(7).name_prefix("J");
}
