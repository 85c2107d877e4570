//! The company's employee, as later versions of a program could declare it.

/// A version with a nickname, a wider age and an index by e-mail. Old rows remain readable, and are backfilled once.
pub mod next {
    use table_core::Entity;

    /// An employee. Example key: (`Sales`, `empid_000123`).
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number of the employee, with at most six digits.
        #[digits(6)]
        pub id: u32,
        /// The given name.
        pub first_name: String,
        /// The family name.
        pub last_name: String,
        /// The nickname.
        pub nickname: Option<String>,
        /// The age in years.
        pub age: i64,
        /// The e-mail address.
        #[property("EmailAddress")]
        pub email: String,
    }
}

/// A version whose employee numbers have eight digits, so old rows have different keys.
pub mod wider {
    use table_core::Entity;

    /// An employee. Example key: (`Sales`, `empid_00000123`).
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub struct Employee {
        /// The department.
        pub department: String,
        /// The number of the employee, with at most eight digits.
        #[digits(8)]
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
