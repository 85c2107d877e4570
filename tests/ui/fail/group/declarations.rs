mod not_a_struct {
    use table_core::{Entity, EntityGroup};

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

    #[derive(EntityGroup)]
    enum Staff { //~ T010
        Employee(Employee),
    }
}

mod type_twice {
    use table_core::group::{Many, One};
    use table_core::{Entity, EntityGroup};

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

    #[derive(EntityGroup)]
    struct Staff {
        boss: One<Employee>,
        others: Many<Employee>, //~ T102
    }
}

mod other_is_a_map {
    use std::collections::HashMap;

    use table_core::group::One;
    use table_core::{Entity, EntityGroup, Value};

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

    #[derive(EntityGroup)]
    #[entity_group(under = Employee)]
    struct Staff {
        boss: One<Employee>,
        #[other]
        rest: HashMap<String, Value>, //~ T251
    }
}

fn main() {}
