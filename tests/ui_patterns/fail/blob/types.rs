mod entity_without_blobs {
    use std::sync::Arc;

    use table_patterns::blob::object_store::memory::InMemory;
    use table_patterns::large::LargeTable;
    use table_patterns::{Entity, TableStoreExt, embedded::Engine};

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
    }

    fn uses() {
        let table = Engine::in_memory().table::<Employee>();
        LargeTable::new(table, Arc::new(InMemory::new()), "staff"); //~ T140
    }
}

mod no_entity {
    use table_patterns::large::{BlobRef, Large};

    #[derive(Large)]
    struct Employee { //~ T105
        department: String,
        id: u32,
        #[blob]
        photo: Option<BlobRef>,
    }
}

mod not_optional {
    use table_patterns::Entity;
    use table_patterns::large::{BlobRef, Large};

    #[derive(Entity, Large)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[blob]
        photo: BlobRef, //~ T142
    }
}

mod wrong_type {
    use table_patterns::Entity;
    use table_patterns::large::Large;

    #[derive(Entity, Large)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[blob]
        photo: Vec<u8>, //~ T142
    }
}

fn main() {}
