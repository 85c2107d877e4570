mod fan_out_without_number {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digits(6, id))]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    access_patterns! {
        /// The queries of the office.
        Office for Employee {
            all(department: &str) <= fanout = Employee::partition(department); //~ T091
        }
    }
}

mod no_ceiling {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digits(6, id))]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    access_patterns! {
        /// The queries of the office.
        Office for Employee {
            all(department: &str) = Employee::partition(department); //~ T091
        }
    }
}

mod unknown_ceiling {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digits(6, id))]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    access_patterns! {
        /// The queries of the office.
        Office for Employee {
            all(department: &str) <= cheap = Employee::partition(department); //~ T091
        }
    }
}

fn main() {}
