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

mod index_rows {
    use table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company", set = Staff)]
    #[partition_key(department)]
    #[row_key("emp_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    #[derive(Entity)]
    #[entity(table = "Company", set = Staff)]
    #[partition_key(department)]
    #[row_key("con_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Contractor {
        department: String,
        id: u32,
        email: String,
    }

    #[derive(EntitySet)]
    enum Staff { //~ T103
        Employee(Employee),
        Contractor(Contractor),
        #[other]
        Unknown(TableEntity),
    }
}

mod index_row_of_member {
    use table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("emp_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    struct Employee {
        department: String,
        id: u32,
        email: String,
    }

    #[derive(Entity)]
    #[entity(table = "Company")]
    #[partition_key(department)]
    #[row_key("email_", id)]
    struct Email {
        department: String,
        id: u32,
    }

    #[derive(EntitySet)]
    enum Staff { //~ T103
        Employee(Employee),
        Email(Email),
        #[other]
        Unknown(TableEntity),
    }
}

mod one_schema_name {
    use table_core::{Entity, EntitySet, TableEntity};

    mod v1 {
        #[derive(table_core::Entity)]
        #[entity(table = "Notes", kind = "Note1")]
        #[partition_key(department)]
        #[row_key("note_", id)]
        pub struct Note {
            department: String,
            id: u32,
        }

        impl From<Note> for super::Note {
            fn from(old: Note) -> Self {
                Self { department: old.department, id: old.id }
            }
        }
    }

    #[derive(Entity)]
    #[entity(table = "Notes", kind = "Note2")]
    #[partition_key(department)]
    #[row_key("note_", id)]
    struct Note {
        department: String,
        id: u32,
    }

    #[derive(EntitySet)]
    enum Notes { //~ T263
        #[upgrade(from = v1::Note)]
        Note(Note),
        #[other]
        Unknown(TableEntity),
    }
}

fn main() {}
