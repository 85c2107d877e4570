//! Employees with an index by e-mail address, either in the employee's partition or in a different one (PAT-INTRA, PAT-INTER).

/// An index in the same partition. Example keys: (`Sales`, `empid_000223`) for an employee and (`Sales`, `email_jonesj@contoso.com`) for its index row.
pub mod intra {
    use table_core::Entity;

    /// An employee with an index in the department's partition.
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "CompanyByEmail")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct Employee {
        /// The name of the department.
        pub department: String,
        /// The employee number, with at most six digits.
        #[digits(6)]
        #[property("EmployeeId")]
        pub id: u32,
        /// The given name.
        pub first_name: String,
        /// The family name.
        pub last_name: String,
        /// The age in years.
        pub age: i32,
        /// The e-mail address.
        #[property("EmailAddress")]
        pub email: String,
    }
}

/// An index in a different partition. Example keys: (`empid_Sales`, `000223`) for an employee and (`email_Sales`, `jonesj@contoso.com`) for its index row.
pub mod inter {
    use table_core::Entity;

    /// An employee with an index in a different partition.
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "CompanySpread")]
    #[partition_key("empid_", department)]
    #[row_key(id)]
    #[index(ByEmail, unique, partition_key("email_", department), row_key(email))]
    pub struct Employee {
        /// The name of the department.
        pub department: String,
        /// The employee number, with at most six digits.
        #[digits(6)]
        #[property("EmployeeId")]
        pub id: u32,
        /// The given name.
        pub first_name: String,
        /// The family name.
        pub last_name: String,
        /// The age in years.
        pub age: i32,
        /// The e-mail address.
        #[property("EmailAddress")]
        pub email: String,
    }
}
