//! Declarations compile under the strictest lints, in a crate whose public items are all documented.
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications, warnings)]

/// Employees of a company.
pub mod staff {
    use table_core::Entity;

    /// An employee.
    #[derive(Clone, Debug, Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id, "_", name)]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number of the employee.
        pub id: u32,
        /// The name.
        pub name: String,
        /// The age in years.
        pub age: Option<i32>,
        email: String,
    }

    /// Uses the private field, and none of the generated items.
    pub fn email(employee: &Employee) -> &str {
        &employee.email
    }
}

/// Uses the declarations.
pub fn main() {
    let _ = staff::Employee::rows("Sales").id_is(7).name_prefix("J");
}
