mod reserved_name {
    use table_core::KeyPart;

    #[derive(KeyPart)]
    enum Stage {
        #[key_part("\u{FFFC}draft")] //~ T024
        Draft,
        Final,
    }
}

mod illegal_name {
    use table_core::{Entity, KeyPart};

    #[derive(KeyPart)]
    enum Stage {
        #[key_part("in/out")] //~ T024
        Both,
        None,
    }

    #[derive(Entity)]
    #[partition_key(document)]
    #[row_key(stage)]
    struct Review {
        document: String,
        stage: Stage,
    }
}

mod name_twice {
    use table_core::KeyPart;

    #[derive(KeyPart)]
    enum Stage {
        Draft,
        #[key_part("Draft")]
        Final, //~ T035
    }
}

mod renamed_by_serde {
    use table_core::KeyPart;

    #[derive(KeyPart, serde::Serialize)]
    enum Stage {
        #[serde(rename = "draft")] //~ T015
        Draft,
        #[serde(rename = "final")]
        #[key_part("final")]
        Final,
    }

    #[derive(KeyPart, serde::Serialize)]
    #[serde(rename_all = "snake_case")] //~ T015
    enum State {
        InReview,
        Done,
    }
}

mod two_fields {
    use table_core::KeyPart;

    #[derive(KeyPart)]
    struct Place(u32, u32); //~ T034
}

mod variant_with_fields {
    use table_core::KeyPart;

    #[derive(KeyPart)]
    enum Stage {
        Draft,
        Final(u32), //~ T034
    }
}

fn main() {}
