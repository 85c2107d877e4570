mod chunks_of_number {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(grain)]
    #[row_key("state")]
    struct State {
        grain: String,
        #[property(chunks)]
        count: i64, //~ T173
    }
}

mod rest_type {
    use std::collections::HashMap;
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(stream)]
    #[row_key("head")]
    struct Head {
        stream: String,
        #[property(rest)]
        rest: HashMap<String, String>, //~ T171
    }
}

mod i128 {
    use table_core::Entity;

    type Cents = i128;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        salary: Cents, //~ T050
    }
}

mod unsupported_type {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        reviews: Vec<String>, //~ T050
    }
}

fn main() {}
