mod ambiguous {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(name, "_", title)] //~ T027
    pub struct Employee {
        department: String,
        name: String,
        title: String,
    }
}

mod ambiguous_waiver_idle {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(allow(ambiguous_row_key, reason = "the layout of another program"))]
    #[partition_key(service)]
    #[row_key(grain, "-", digits(4, number))] //~ T176
    pub struct Reminder {
        service: String,
        grain: String,
        number: u16,
    }
}

mod digits_of_alias {
    use table_core::Entity;

    type Id = u16;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(digits(6, id))]
    pub struct Event {
        user: String,
        id: Id, //~ T029
    }
}

mod digits_of_signed {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub struct Employee {
        department: String,
        #[digits(11)]
        id: i64, //~ T179
    }
}

mod hash_too_long {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(hash(crc32, 9, user))]
    pub struct Event {
        department: String,
        user: String, //~ T029
    }
}

mod hex_of_signed {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(hex(8, id))]
    pub struct Event {
        department: String,
        id: i32, //~ T029
    }
}

mod illegal_separator {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key(without('/', name))]
    pub struct Event {
        user: String,
        name: String, //~ T037
    }
}

mod pattern_of_another_type {
    use chrono::{DateTime, Utc};
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(pattern("HH:mm", at))]
    pub struct Event {
        department: String,
        at: DateTime<Utc>, //~ T008
    }
}

mod pattern_with_gap {
    use chrono::NaiveDate;
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(pattern("yyyy-dd", day))]
    pub struct Event {
        department: String,
        day: NaiveDate, //~ T008
    }
}

mod too_long {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(user)]
    #[row_key("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", id, "_", session)] //~ T028
    pub struct Event {
        user: String,
        id: u128,
        session: u128,
    }
}

mod too_many_digits {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub struct Employee {
        department: String,
        #[digits(12)]
        id: u32, //~ T029
    }
}

mod unpadded_before_digit {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(unpadded(id), "0", unpadded(other))] //~ T027
    pub struct Event {
        department: String,
        id: u32,
        other: u32,
    }
}

mod first_of_fixed_width {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(first(3, ulid(id)))]
    pub struct Event {
        department: String,
        id: String, //~ T029
    }
}

mod folded_to_the_other_case {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(folded(lower, ulid(id)))]
    pub struct Event {
        department: String,
        id: String, //~ T029
    }
}

mod desc_of_variable_width {
    use table_core::key::codec::{Alphabet, Form, KeyCodec, KeyPart, Reversible};
    use table_core::{Entity, Result};

    pub struct Score(u8);

    /// Writes 255 as `255`, and 7 as `7`.
    pub enum Plain {}

    impl KeyCodec<Score> for Plain {
        const NAME: &'static str = "plain";
        const FORM: Form = Form { min: 1, max: 3, ordered: false, alphabet: Alphabet::DIGITS };

        fn encode(value: &Score, out: &mut String) -> Result<()> {
            out.push_str(&value.0.to_string());
            Ok(())
        }

        fn decode(text: &str) -> Result<Score> {
            Ok(Score(text.parse().unwrap_or_default()))
        }
    }

    impl Reversible<Score> for Plain {
        fn encode_reversed(value: &Score, out: &mut String) -> Result<()> {
            Self::encode(&Score(u8::MAX - value.0), out)
        }

        fn decode_reversed(text: &str) -> Result<Score> {
            Self::decode(text).map(|score| Score(u8::MAX - score.0))
        }
    }

    impl KeyPart for Score {
        type Codec = Plain;
    }

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(desc(score))]
    pub struct Event {
        department: String,
        score: Score, //~ T031
    }
}

mod pattern_finer_than_its_property {
    use chrono::{DateTime, Utc};
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(department)]
    #[row_key(pattern("yyyyMMddTHHmmssffffffff", at))]
    pub struct Event {
        department: String,
        #[property(also)]
        at: DateTime<Utc>, //~ T008
    }
}

fn main() {}
