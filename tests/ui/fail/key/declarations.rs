mod bucket_of_none {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(bucket(user, 0))] //~ T036
    #[row_key(user)]
    pub struct Event {
        user: String,
    }
}

mod bucket_of_one {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(bucket(user, 1))] //~ T036
    #[row_key(user)]
    pub struct Event {
        user: String,
    }
}

mod codec_without_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub struct Employee {
        department: String,
        id: u32,
        #[digits(3)] //~ T025
        age: i32,
    }
}

mod empty {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key()] //~ T021
    pub struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod empty_literal {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key("", id)] //~ T022
    pub struct Event {
        user: String,
        id: u32,
    }
}

mod field_twice {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id, "_", id)] //~ T023
    pub struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod hash_reversed {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(desc(hash(crc32, 8, user)))] //~ T032
    pub struct Event {
        department: String,
        user: String,
    }
}

mod hidden_clone {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(clone)]
    pub struct Specimen {
        department: String,
        clone: u32, //~ T039
    }
}

mod hidden_design {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    pub struct Employee {
        department: String,
        id: u32,
        schema: String, //~ T039
    }
}

mod reserved_literal {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("\u{FFFC}empid_", id)] //~ T024
    pub struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod illegal_literal {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid/", id)] //~ T024
    pub struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod literal_is_field {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("id")] //~ T038
    pub struct Employee {
        department: String,
        id: u32,
    }
}

mod literal_is_format {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_{id}_x")] //~ T038
    pub struct Employee {
        department: String,
        id: u32,
    }
}

mod nested_bucket {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(desc(bucket(user, 16)))] //~ T032
    #[row_key(user)]
    pub struct Event {
        user: String,
    }
}

mod columns_of_one_name {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[allow(non_snake_case)]
    pub struct Employee {
        department: String,
        id: u32,
        badgeId: u32,
        badgeid: u32, //~ T033
    }
}

mod no_piece {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(4, id)] //~ T004
    pub struct Event {
        user: String,
        id: u32,
    }
}

mod unknown_field {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(departmnt)] //~ T005
    #[row_key("empid_", id)]
    pub struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod zero_digits {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(digits(0, id))] //~ T004
    pub struct Event {
        user: String,
        id: u32,
    }
}

fn main() {}
