mod name {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "my-company")] //~ T012
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod name_of_schema {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Company", schema_name = "first employee")] //~ T012
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod name_of_struct {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Hr { //~ T012
        department: String,
        id: u32,
        age: i32,
    }
}

fn main() {}
