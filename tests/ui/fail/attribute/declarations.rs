mod codec_with_parameters {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(codec(Pattern<5>, id))] //~ T004
    struct Event {
        department: String,
        id: u32,
    }
}

mod digits_after_field {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(digits(id, 6))] //~ T004
    struct Event {
        department: String,
        id: u32,
    }
}

mod duplicate_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_")]
    #[row_key(id)] //~ T002
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod hex_without_number {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(hex(id))] //~ T004
    struct Event {
        department: String,
        id: u32,
    }
}

mod key_on_field {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        #[row_key] //~ T003
        id: u32,
    }
}

mod literal_of_field {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(literal(id), id)] //~ T004
    struct Event {
        department: String,
        id: u32,
    }
}

mod of_another_library {
    use table_core::Entity;

    #[derive(Entity)]
    #[table("Company")] //~ T009
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
    }
}

mod on_struct {
    use table_core::Entity;

    #[derive(Entity)]
    #[digits(6)] //~ T003
    #[partition_key(user)]
    #[row_key(id)]
    struct Event {
        user: String,
        id: u32,
    }
}

mod pattern_letter {
    use chrono::NaiveDate;
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(pattern("YYYY-MM-dd", day))] //~ T008
    struct Event {
        department: String,
        day: NaiveDate,
    }
}

mod unknown_codec {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", digts(6, id))] //~ T001
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

mod unknown_form_of_guid {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(guid(hyphenated, id))] //~ T001
    struct Event {
        department: String,
        id: u128,
    }
}

mod unknown_property_word {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        #[property(jsn)] //~ T001
        age: i32,
    }
}

mod unknown_word {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(tabel = "Company")] //~ T001
    #[partition_key(department)]
    #[row_key("empid_", id)]
    struct Employee {
        department: String,
        id: u32,
        age: i32,
    }
}

fn main() {}
