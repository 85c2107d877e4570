mod bound_of_zero {
    use table_core::Entity;

    #[derive(Entity)]
    #[index_entity(ByKind, at_most = 0, row_key("kind_", kind))] //~ T068
    #[partition_key(user)]
    #[row_key("id_", id)]
    pub struct Event {
        user: String,
        id: u32,
        kind: String,
    }
}

mod float {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByRating, row_key("rating_", rating, "_", id))]
    pub struct Employee {
        department: String,
        id: u32,
        rating: f64, //~ T026
    }
}

mod illegal_literal {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email/", email))] //~ T024
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod keep_of_index_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(email, name))] //~ T062
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod keep_of_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(id))] //~ T062
    pub struct Employee {
        department: String,
        id: u32,
        email: String,
    }
}

mod keep_twice {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(name, name))] //~ T063
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod keep_unknown {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email), include(nam))] //~ T005
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod list_unique {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByName, at_most = 100, unique, row_key("name_", name))] //~ T064
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod list_without_row_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByName, at_most = 100, partition_key("name_", name))] //~ T060
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod mixed_with_entity {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key(email))] //~ T066
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod mixed_with_index {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("e_", email))]
    #[index_entity(ByName, at_most = 100, row_key("e_n_", name))] //~ T066
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod equal_keys_with_entity {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key("emp_", department)]
    #[row_key(id)]
    #[index(ByName, unique, partition_key("emp", name), row_key(id))] //~ T066
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod equal_keys_with_index {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index(Emails, unique, partition_key("all_", name), row_key("email_", email))] //~ T066
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod name_twice {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index(ByEmail, unique, row_key("mail_", email))] //~ T061
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod no_row_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique)] //~ T060
    pub struct Employee {
        department: String,
        id: u32,
        email: String,
    }
}

mod not_unique {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, row_key("email_", email))] //~ T065
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod not_unique_folded_key {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("mail_", folded(lower, email))]
    #[index(ByCity, row_key("city_", city))] //~ T065
    pub struct Employee {
        department: String,
        email: String,
        city: String,
    }
}

mod not_unique_truncated_key {
    use chrono::{DateTime, Utc};
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(device)]
    #[row_key("hour_", truncate(hour(at)))]
    #[index(ByKind, partition_key("kinds"), row_key(escaped(kind), "!", device))] //~ T065
    pub struct Reading {
        device: String,
        at: DateTime<Utc>,
        kind: String,
    }
}

mod not_unique_other_partition {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(Directory, partition_key("all"), row_key(email), include(name))] //~ T065
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod optional_float {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByRating, row_key("rating_", rating, "_", id))]
    pub struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        rating: Option<f32>, //~ T026
    }
}

mod reserved_method {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(Key, unique, row_key("email_", email))] //~ T067
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod table_name {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, table = "E-Mails", row_key(email))] //~ T012
    pub struct Employee {
        department: String,
        id: u32,
        name: String,
        email: String,
    }
}

mod type_of_a_field {
    use table_core::Entity;

    use self::facts::TicketFacts;

    mod facts {
        pub type TicketFacts = i32;
    }

    #[derive(Entity)]
    #[partition_key(tenant)]
    #[row_key("ticket_", number)]
    #[index(Facts, unique, row_key("facts_", number))] //~ T073
    pub struct Ticket {
        tenant: String,
        number: u32,
        facts: TicketFacts,
    }
}

mod unbounded_list {
    use table_core::Entity;

    #[derive(Entity)]
    #[index_entity(ByKind, row_key("kind_", kind))] //~ T068
    #[partition_key(user)]
    #[row_key("id_", id)]
    pub struct Event {
        user: String,
        id: u32,
        kind: String,
    }
}

mod unknown_field {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", mail))] //~ T005
    pub struct Employee {
        department: String,
        id: u32,
        email: String,
    }
}

mod unknown_word {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unqiue, row_key(email))] //~ T001
    pub struct Employee {
        department: String,
        id: u32,
        email: String,
    }
}

mod without_name {
    use table_core::Entity;

    #[derive(Entity)]
    #[index("ByKind", row_key("kind_", kind))] //~ T004
    #[partition_key(user)]
    #[row_key("id_", id)]
    pub struct Event {
        user: String,
        id: u32,
        kind: String,
    }
}

fn main() {}
