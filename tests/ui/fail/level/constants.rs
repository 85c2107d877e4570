mod bool_first {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(active, user)] //~ T044
    #[row_key(id)]
    pub struct Event {
        active: bool,
        user: String,
        id: u32,
    }
}

mod holds_its_end {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(without('_', tenant), user)] //~ T042
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: String,
        id: u32,
    }
}

mod small_enum_alone {
    use table_core::{Entity, KeyPart};

    #[derive(KeyPart)]
    pub enum Stage {
        Draft,
        Final,
    }

    #[derive(Entity)]
    #[partition_key(stage)] //~ T044
    #[row_key(id)]
    pub struct Document {
        stage: Stage,
        id: u32,
    }
}

fn main() {}
