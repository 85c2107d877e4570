//! Attributes of other libraries. Each mistake is reported once, although the attributes do not exist.

mod diesel {
    use table_core::Entity;

    struct Address {
        street: String,
    }

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[column_name = "Alter"] //~ T009
        age: i32,
        #[embed] //~ T009
        address: Address,
        #[belongs_to(Department)] //~ T009
        boss: u32,
    }
}

mod entity_framework {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    struct Employee {
        department: String,
        #[Key] //~ T009
        id: u32,
        #[Required] //~ T009
        name: String,
        #[MaxLength(50)] //~ T009
        email: String,
        #[NotMapped] //~ T009
        cache: String,
        #[Timestamp] //~ T009
        version: Vec<u8>,
    }
}

mod table_entity {
    use table_core::Entity;

    #[derive(Entity)]
    struct Employee {
        #[PartitionKey] //~ T009
        department: String,
        #[RowKey] //~ T009
        id: u32,
    }
}

mod toasty {
    use table_core::Entity;

    struct Review {
        rating: i32,
    }

    #[derive(Entity)]
    struct Employee {
        #[key] //~ T009
        department: String,
        #[key]
        id: u32,
        #[auto] //~ T009
        number: u64,
        #[has_many] //~ T009
        reviews: Vec<Review>,
    }
}

fn main() {}
