mod not_told_apart {
    use table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
    }

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", name)]
    struct Guest {
        department: String,
        name: String,
    }

    #[derive(EntitySet)]
    enum Staff { //~ T103
        Employee(Employee),
        Guest(Guest),
        #[other]
        Unknown(TableEntity),
    }
}

mod other_table {
    use table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        age: i32,
    }

    #[derive(Entity)]
    #[entity(table = "Reviews")]
    #[partition_key(department)]
    #[row_key("review_", year)]
    struct Review {
        department: String,
        year: u16,
    }

    #[derive(EntitySet)]
    enum Staff { //~ T104
        Employee(Employee),
        Review(Review),
        #[other]
        Unknown(TableEntity),
    }
}

mod same_kind {
    use table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company", kind = "Employee")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
    }

    #[derive(Entity)]
    #[entity(table = "Company", kind = "Employee")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct EmployeeV2 {
        department: String,
        id: u32,
    }

    #[derive(EntitySet)]
    enum Staff { //~ T103
        Employee(Employee),
        EmployeeV2(EmployeeV2),
        #[other]
        Unknown(TableEntity),
    }
}

fn main() {}
