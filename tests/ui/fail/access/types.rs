mod fan_out_above_partition {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key("login_", bucket(user, 16))]
    #[row_key(user)]
    struct Login {
        user: u64,
    }

    access_patterns! {
        /// The queries of the guards.
        Guards for Login {
            all() <= partition = Login::all_partitions(); //~ T090
        }
    }
}

mod fan_out_above_partitions {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key("login_", bucket(user, 16))]
    #[row_key(user)]
    struct Login {
        user: u64,
    }

    access_patterns! {
        /// The queries of the guards.
        Guards for Login {
            all() <= partitions = Login::all_partitions(); //~ T090
        }
    }
}

mod partition_above_range {
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
            all(department: &str) <= range = Employee::partition(department); //~ T090
        }
    }
}

mod partition_range_above_partition {
    use chrono::{DateTime, Utc};
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key("log_", minute, "_", node)]
    #[row_key(number)]
    struct Log {
        minute: DateTime<Utc>,
        node: String,
        number: u64,
    }

    access_patterns! {
        Logs for Log {
            since(from: DateTime<Utc>) <= partition = Log::partitions_by_minute(from..); //~ T090
        }
    }
}

mod partitions_above_fan_out {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key(tenant, user)]
    #[row_key(id)]
    struct Event {
        tenant: String,
        user: String,
        id: u64,
    }

    access_patterns! {
        /// The queries of a tenant.
        Tenants for Event {
            all(tenant: &str) <= fanout(100) = Event::within(tenant); //~ T090
        }
    }
}

mod partitions_above_partition {
    use table_core::{Entity, access_patterns};

    #[derive(Entity)]
    #[partition_key(tenant, user)]
    #[row_key(id)]
    struct Event {
        tenant: String,
        user: String,
        id: u64,
    }

    access_patterns! {
        /// The queries of a tenant.
        Tenants for Event {
            all(tenant: &str) <= partition = Event::within(tenant); //~ T090
        }
    }
}

mod range_above_point {
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
            one(department: &str) <= point = Employee::rows(department).id(..100); //~ T090
        }
    }
}

mod scan_above_fan_out {
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
            all() <= fanout(16) = Employee::scan("audit"); //~ T090
        }
    }
}

mod scan_above_partition {
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
            all() <= partition = Employee::scan("audit"); //~ T090
        }
    }
}

mod scan_above_partitions {
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
            all() <= partitions = Employee::scan("audit"); //~ T090
        }
    }
}

mod source_not_named {
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

    access_patterns! { //~ T092
        /// The queries of the office.
        Office for Employee {
            by_email(department: &str, email: &str) <= point = Employee::by_email(department, email);
        }
    }
}

fn main() {}
