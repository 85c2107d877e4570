//! Attributes of other libraries, which this library does not have. Each mistake is reported once.

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

mod diesel_of_today {
    use table_core::Entity;

    #[derive(Entity)]
    #[diesel(table_name = staff)]
    #[diesel(primary_key(department, id))] //~ T009
    struct Employee {
        department: String,
        id: u32,
    }
}

mod sea_orm {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Staff")]
    #[sea_orm(table_name = "staff")]
    struct Employee {
        #[sea_orm(primary_key)] //~ T009
        department: String,
        #[sea_orm(primary_key)]
        id: u32,
    }
}

mod hibernate {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    struct Employee {
        department: String,
        #[id] //~ T009
        #[generated_value]
        id: u32,
        #[many_to_one] //~ T009
        office: u32,
        #[version] //~ T009
        version: i64,
    }
}

mod dynamodb {
    use table_core::Entity;

    #[derive(Entity)]
    #[gsi(name = "ByEmail", hash = email)] //~ T009
    struct Employee {
        #[pk] //~ T009
        department: String,
        #[sk]
        id: u32,
        email: String,
        #[ttl] //~ T009
        expires: i64,
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
        #[RowKey]
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
