mod allow_empty_reason {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(low_cardinality, reason = " "))] //~ T006
    #[partition_key(active, user)]
    #[row_key(id)]
    pub struct Event {
        active: bool,
        user: String,
        id: u32,
    }
}

mod allow_idle {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(low_cardinality, reason = "five tenants, loaded once"))] //~ T007
    #[partition_key("tenant_", active)]
    #[row_key(id)]
    pub struct Event {
        active: bool,
        id: u32,
    }
}

mod allow_nothing {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(reason = "five tenants, loaded once"))] //~ T006
    #[partition_key(active, user)]
    #[row_key(id)]
    pub struct Event {
        active: bool,
        user: String,
        id: u32,
    }
}

mod allow_unknown_word {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(low_cardinalty, reason = "five tenants, loaded once"))] //~ T001
    #[partition_key(active, user)]
    #[row_key(id)]
    pub struct Event {
        active: bool,
        user: String,
        id: u32,
    }
}

mod allow_without_reason {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(low_cardinality))] //~ T006
    #[partition_key(active, user)]
    #[row_key(id)]
    pub struct Event {
        active: bool,
        user: String,
        id: u32,
    }
}

mod bucket {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(bucket(user, 16), day)] //~ T041
    #[row_key(user)]
    pub struct Login {
        user: u64,
        day: u32,
    }
}

mod fourth {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(country, state, city, street)] //~ T040
    #[row_key(number)]
    pub struct House {
        country: String,
        state: String,
        city: String,
        street: String,
        number: u32,
    }

    // A key has at most three levels (HPK-42).
}

mod hash_as_level {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(hash(crc32, 4, user), department)] //~ T041
    #[row_key(user)]
    pub struct Event {
        department: String,
        user: String,
    }
}

mod name_twice {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(tenant, user, user_is)] //~ T033
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: String,
        user_is: String,
        id: u32,
    }
}

fn main() {}
