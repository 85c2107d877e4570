mod generic_with_index {
    use table_core::{Entity, Property};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))] //~ T014
    struct Employee<T: Property> {
        department: String,
        id: u32,
        email: String,
        note: T,
    }
}

mod group_of_none {
    use table_core::EntityGroup;

    #[derive(EntityGroup)]
    struct Nothing {} //~ T111
}

mod lifetime {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee<'a> { //~ T011
        department: String,
        id: u32,
        note: &'a str,
    }
}

mod not_a_struct {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    enum Employee { //~ T010
        Permanent { department: String, id: u32 },
    }
}

mod parameter_in_key {
    use table_core::Entity;
    use table_core::KeyPart;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee<I: KeyPart> {
        department: String,
        id: I, //~ T013
    }
}

fn main() {}
