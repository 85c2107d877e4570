mod no_blob {
    use table_patterns::Entity;
    use table_patterns::large::{BlobRef, Large};

    #[derive(Entity, Large)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee { //~ T141
        department: String,
        id: u32,
        photo: Option<BlobRef>,
    }
}

mod not_a_struct {
    use table_patterns::large::Large;

    #[derive(Large)]
    enum Employee { //~ T010
        Ada,
    }
}

mod on_struct {
    use table_patterns::Entity;
    use table_patterns::large::{BlobRef, Large};

    #[derive(Entity, Large)]
    #[partition_key(department)]
    #[row_key(id)]
    #[blob] //~ T003
    struct Employee {
        department: String,
        id: u32,
        #[blob]
        photo: Option<BlobRef>,
    }
}

mod twice {
    use table_patterns::Entity;
    use table_patterns::large::{BlobRef, Large};

    #[derive(Entity, Large)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[blob]
        #[blob] //~ T002
        photo: Option<BlobRef>,
    }
}

mod unknown_word {
    use table_patterns::Entity;
    use table_patterns::large::{BlobRef, Large};

    #[derive(Entity, Large)]
    #[large(crat = table_patterns)] //~ T001
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[blob]
        photo: Option<BlobRef>,
    }
}

mod with_words {
    use table_patterns::Entity;
    use table_patterns::large::{BlobRef, Large};

    #[derive(Entity, Large)]
    #[partition_key(department)]
    #[row_key(id)]
    struct Employee {
        department: String,
        id: u32,
        #[blob("Portrait")] //~ T004
        photo: Option<BlobRef>,
    }
}

fn main() {}
