//! Access patterns with each cost ceiling (`point`, `range`, …) and the queries that it permits compile in a crate that denies lints and has no prelude.
#![no_implicit_prelude]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, warnings)]

/// The designs of the test.
pub mod design {
    use ::std::string::String;
    use ::table_core::selection::Copies;
    use ::table_core::{Entity, access_patterns};

    /// An employee.
    #[derive(Debug, Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digits(6, id))]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    access_patterns! {
        /// The queries of the office.
        pub Office for Employee {
            /// One employee.
            by_id(department: &str, id: u32) <= point = Employee::key(department, id);
            /// One employee, possibly several later.
            some(department: &str, id: u32) <= range = Employee::key(department, id);
            /// The first employees.
            first(department: &str, r#type: u32) <= range = Employee::rows(department).id(..r#type);
            /// All employees of a department.
            rows(department: &str) <= range = Employee::rows(department);
            /// All employees of a department.
            all(department: &str,) <= partition = Employee::partition(department);
            /// Employees by address.
            by_email(department: &str, email: &str) <= point from Copies<EmployeeByEmail> =
                Employee::by_email(department, email);
            /// All employees.
            audit() <= scan = Employee::scan("audit");
            /// A department, possibly more later.
            part(department: &str) <= scan = Employee::partition(department);
        }
    }

    /// A login.
    #[derive(Debug, Entity)]
    #[partition_key("login_", bucket(user, 16))]
    #[row_key(user)]
    pub struct Login {
        user: u64,
    }

    access_patterns! {
        /// The queries of the guards.
        pub(crate) Guards for Login {
            /// All logins.
            all() <= fanout(16) = Login::all_partitions();
            one(user: u64) <= fanout(16) = Login::partition_of(user);
        }
    }

    /// An event.
    #[derive(Debug, Entity)]
    #[partition_key(tenant, user)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: String,
        id: u64,
    }

    access_patterns! {
        Tenants for Event {
            of(tenant: &str) <= partitions = Event::within(tenant);
            whole(tenant: &str, user: &str) <= partitions = Event::partition(tenant, user);
        }
    }

    access_patterns! {
        /// A type without queries.
        pub Nobody for Event {}
    }
}

/// Uses the declarations.
pub fn main() {
    let _ = design::Office::by_id("Sales", 1);
    ::std::assert_eq!(design::Office::PATTERNS.len(), 8);
    ::std::assert_eq!(design::Guards::PATTERNS[0].ceiling, ::table_core::query::QueryClass::FanOut(16));
    ::std::assert!(design::Nobody::PATTERNS.is_empty());
    ::std::assert_eq!(design::Office::part("Sales").reason(), "part");
}
