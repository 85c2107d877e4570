mod wrong_key_type {
    use table_core::{Entity, Projection};

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

    #[derive(Projection)]
    #[projection(of = Employee)]
    struct Badge {
        id: String, //~ T121
        age: i32,
    }
}

mod wrong_type {
    use table_core::{Entity, Projection};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        first_name: String,
        age: Option<i32>,
    }

    #[derive(Projection)]
    #[projection(of = Employee)]
    struct Contact {
        age: i32, //~ T121
    }
}

fn main() {}
