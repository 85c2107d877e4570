//! The employees of the company as declared by later versions of the program.

/// A version that adds a nickname, a wider type for the age, and an index by e-mail address. Old rows remain readable, but require one backfill.
pub mod next {
    use table_core::Entity;

    /// An employee with the fields added by this version. Example key: (`Sales`, `empid_000123`).
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    pub struct Employee {
        /// The name of the department.
        pub department: String,
        /// The employee number, with at most six digits.
        #[digits(6)]
        pub id: u32,
        /// The given name.
        pub first_name: String,
        /// The family name.
        pub last_name: String,
        /// The nickname. Old rows do not have one.
        pub nickname: Option<String>,
        /// The age in years.
        pub age: i64,
        /// The e-mail address.
        #[property("EmailAddress")]
        pub email: String,
    }
}

/// A version in which employee numbers have eight digits, so the rows must be moved to new keys.
pub mod wider {
    use table_core::Entity;

    /// An employee with a longer number. Example key: (`Sales`, `empid_00000123`).
    #[derive(Entity, Clone, Debug, PartialEq, Eq)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub struct Employee {
        /// The name of the department.
        pub department: String,
        /// The employee number, with at most eight digits.
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
