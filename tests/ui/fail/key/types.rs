mod desc_of_text {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(desc(name))]
    pub struct Employee {
        department: String,
        name: String, //~ T031
    }
}

mod digits_of_text {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("name_", name)]
    pub struct Employee {
        department: String,
        #[digits(6)]
        name: String, //~ T030
    }
}

mod float {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(weight)]
    pub struct Employee {
        department: String,
        weight: f64, //~ T026
    }
}

mod folded_number {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(folded(lower, id))]
    pub struct Event {
        department: String,
        id: u32, //~ T030
    }
}

mod hash_without_feature {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(hash(md5, 8, user))]
    #[row_key(user)]
    pub struct Cart {
        user: String, //~ T178
    }
}

mod hour_of_text {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(hour(department))]
    #[row_key("empid_", id)]
    pub struct Employee {
        department: String, //~ T030
        id: u32,
    }
}

mod inverted_text {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(inverted(100, user))]
    pub struct Event {
        department: String,
        user: String, //~ T031
    }
}

mod option {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(manager)]
    pub struct Employee {
        department: String,
        manager: Option<u32>, //~ T026
    }
}

mod public {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(region)]
    #[row_key("empid_", id)]
    pub struct Employee {
        pub region: Option<String>, //~ T026
        #[digits(6)]
        pub id: u32,
    }
}

mod desc_of_week {
    use chrono::NaiveDate;
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(desc(week(day)))]
    pub struct Event {
        department: String,
        day: NaiveDate, //~ T031
    }
}

mod desc_of_inverted {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(desc(inverted(1000, id)))]
    pub struct Event {
        department: String,
        id: u32, //~ T031
    }
}

mod truncate_of_ticks {
    use chrono::{DateTime, Utc};
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(truncate(at))]
    pub struct Event {
        department: String,
        at: DateTime<Utc>, //~ T031
    }
}

fn main() {}
