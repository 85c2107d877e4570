//! The macros in a crate that depends on `table-patterns` alone, under the name `tables`.
#![deny(missing_docs, warnings)]

use tables::{Entity, access_patterns};

/// Somebody.
#[derive(Debug, Entity)]
#[partition_key(department)]
#[row_key("empid_", digits(6, id))]
#[index(ByEmail, unique, row_key("email_", email))]
pub struct Employee {
    /// Where.
    pub department: String,
    /// Who.
    pub id: u32,
    /// The address.
    pub email: String,
}

access_patterns! {
    /// What the office asks.
    pub Office for Employee {
        /// One.
        by_id(department: &str, id: u32) <= point = Employee::key(department, id);
    }
}

#[cfg(test)]
mod tests {
    use super::{Employee, Entity, Office};

    #[test]
    fn the_runtime_is_found_behind_the_patterns() {
        let employee = Employee { department: "Sales".into(), id: 7, email: "ada@contoso.com".into() };
        assert_eq!(Office::by_id("Sales", 7).key().ok(), employee.key_of().ok());
    }
}
