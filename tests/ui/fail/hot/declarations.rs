mod allow_idle {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(hot_partition, reason = "a few a day"))] //~ T007
    #[partition_key(bucket(user, 16))]
    #[row_key(user)]
    pub struct Event {
        user: String,
        kind: String,
    }
}

mod constant {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key("all")] //~ T046
    #[row_key(id)]
    pub struct Event {
        id: u32,
        kind: String,
    }
}

mod many_buckets {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(bucket(user, 100000))] //~ T047
    #[row_key(user)]
    pub struct Event {
        user: String,
    }
}

mod many_buckets_idle {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(many_buckets, reason = "every read names its user"))] //~ T007
    #[partition_key(bucket(user, 16))]
    #[row_key(user)]
    pub struct Event {
        user: String,
    }
}

fn main() {}
