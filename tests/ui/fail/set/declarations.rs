mod misplaced_upgrade {
    use table_core::{Entity, EntitySet, TableEntity};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
    }

    #[derive(EntitySet)]
    enum Staff {
        Employee(Employee),
        #[other]
        #[upgrade(from = Employee)] //~ T112
        Other(TableEntity),
    }
}

mod no_other {
    use table_core::{Entity, EntitySet};

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

    #[derive(EntitySet)]
    enum Staff { //~ T100
        Employee(Employee),
    }
}

mod not_an_enum {
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

    #[derive(EntitySet)]
    struct Staff { //~ T010
        employee: Employee,
        unknown: TableEntity,
    }
}

mod unknown_word {
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

    #[derive(EntitySet)]
    enum Staff {
        #[upgrade(form = Employee)] //~ T001
        Employee(Employee),
        #[other]
        Unknown(TableEntity),
    }
}

mod variant_without_entity {
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

    #[derive(EntitySet)]
    enum Staff {
        Employee(Employee),
        Robot, //~ T101
        #[other]
        Unknown(TableEntity),
    }
}

fn main() {}
