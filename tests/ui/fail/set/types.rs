mod no_entity {
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

    struct Robot;

    #[derive(EntitySet)]
    enum Staff {
        Employee(Employee),
        Robot(Robot), //~ T105
        #[other]
        Unknown(TableEntity),
    }
}

mod not_a_member {
    use table_core::{Engine, Entity, EntitySet, Table, TableEntity};

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
    #[row_key("empid_", employee, "_", year)]
    struct Review {
        department: String,
        #[digits(6)]
        employee: u32,
        #[digits(4)]
        year: u16,
    }

    #[derive(EntitySet)]
    enum Reviews {
        Review(Review),
        #[other]
        Unknown(TableEntity),
    }

    fn read(employees: &Table<Employee, Engine>) {
        let _ = employees.query(Employee::partition("Sales")).read_as::<Reviews>(); //~ T106
    }
}

fn main() {}
