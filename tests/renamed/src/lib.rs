//! Tests the macros in a crate that depends on `table-core` under the name `store`, has no prelude, and denies all lints.
#![no_implicit_prelude]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications, warnings)]

/// The entities.
pub mod design {
    use ::std::string::String;
    use ::store::selection::Copies;
    use ::store::{Entity, KeyPart, Projection, access_patterns};

    /// A badge.
    #[derive(Clone, Copy, Debug, KeyPart)]
    #[digits(8)]
    pub struct Badge(pub u32);

    /// A person.
    #[derive(Debug, Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digits(6, r#type), "_", badge)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index(ByName, row_key("name_", escaped(name), "!", digits(6, r#type), badge), include(email))]
    #[index_entity(Namesakes, at_most = 100, table = "Names", row_key(name))]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// A field whose name is a keyword.
        pub r#type: u32,
        /// The badge that opens the door.
        pub badge: Badge,
        /// The name.
        pub name: String,
        /// An optional e-mail address.
        pub email: ::std::option::Option<String>,
    }

    /// The projection of an employee for a list of contacts.
    #[derive(Debug, Projection)]
    #[projection(of = Employee)]
    pub struct Contact {
        /// An optional e-mail address.
        pub email: ::std::option::Option<String>,
    }

    access_patterns! {
        /// The queries of the office.
        pub Office for Employee {
            /// One employee.
            by_type(department: &str, r#type: u32, badge: Badge) <= point =
                Employee::key(department, r#type, badge);
            /// One employee, found by e-mail address.
            by_email(department: &str, email: &str) <= point from Copies<EmployeeByEmail> =
                Employee::by_email(department, email);
        }
    }

    /// An entity whose PartitionKey has two levels.
    #[derive(Debug, Entity)]
    #[partition_key(tenant, digits(4, session))]
    #[row_key("")]
    pub struct Event {
        /// The tenant.
        pub tenant: String,
        /// The session.
        pub session: u32,
    }
}

#[cfg(test)]
mod tests {
    use ::std::{assert, assert_eq};

    use crate::design::{Badge, Employee, Event, Office};

    #[test]
    fn the_runtime_is_found_under_another_dependency_name() {
        let key = Office::by_type("Sales", 7, Badge(1)).key();
        let key = key.map(|key| key.row_key.as_str().len()).ok();
        assert_eq!(key, ::std::option::Option::Some("empid_000007_00000001".len()));
        assert_eq!(<Employee as ::store::Entity>::SCHEMA.indexes.len(), 3);
        assert!(Event::within("contoso").session(1..).ranges().is_ok());
    }
}
