mod keys_on_fields {
    use table_core::Entity;

    #[derive(Entity)]
    struct Employee {
        #[PartitionKey] //~ T009
        department: String,
        #[RowKey]
        id: u32,
    }
}

mod literal_in_both_keys {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key("DEPT#", department)] //~ T024
    #[row_key("EMP#", id)]
    struct Employee {
        department: String,
        id: u32,
    }
}

mod rename_by_serde {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[serde(rename = "mail")] //~ T015
        email: String,
    }
}

mod rename_all_without_serde {
    use table_core::Entity;

    #[derive(Entity)]
    #[serde(rename_all = "camelCase")] //~ T015
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        first_name: String,
    }
}

mod sort_key_of_index {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByAge, sort_key("age_", age, "_", id))] //~ T001
    struct Employee {
        department: String,
        id: u32,
        #[digits(3)]
        age: u32,
    }
}

mod unique_column {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[unique] //~ T009
        email: String,
    }
}

mod variants_with_fields {
    use table_core::KeyPart;

    #[derive(KeyPart)]
    enum Owner {
        User(u32), //~ T034
        Team(u32),
    }
}

mod renamed_variants {
    use table_core::KeyPart;

    #[derive(KeyPart)]
    #[key_part(rename_all = "snake_case")] //~ T001
    enum Status {
        Done,
        InProgress,
    }
}

fn main() {}
