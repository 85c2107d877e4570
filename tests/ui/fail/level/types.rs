mod codec_of_ones_own {
    use table_core::key::codec::{Alphabet, Form, KeyCodec};
    use table_core::{Entity, KeyPart, Result};

    pub struct Weekday(u8);

    pub enum Letter {}

    impl KeyCodec<Weekday> for Letter {
        const NAME: &'static str = "letter";
        const FORM: Form = Form::fixed(1, true, Alphabet::of("abcdefg"));

        fn encode(value: &Weekday, out: &mut String) -> Result<()> {
            out.push(char::from(b'a' + value.0 % 7));
            Ok(())
        }

        fn decode(text: &str) -> Result<Weekday> {
            Ok(Weekday(text.as_bytes()[0] - b'a'))
        }
    }

    impl KeyPart for Weekday {
        type Codec = Letter;
    }

    #[derive(Entity)]
    #[partition_key(tenant, weekday)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        weekday: Weekday, //~ T043
        id: u32,
    }
}

mod delete_of_prefix {
    use table_core::{Engine, Entity, IfMatch, Table};

    #[derive(Entity)]
    #[partition_key(tenant, user, session)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: String,
        session: u32,
        id: u32,
        kind: String,
    }

    fn remove(events: &Table<Event, Engine>) {
        let _ = events.delete(Event::within("contoso").user_is("ada"), IfMatch::Any); //~ T084
    }
}

mod float {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(tenant, score)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        score: f64, //~ T026
        id: u32,
    }
}

mod option {
    use table_core::Entity;

    #[derive(Entity)]
    #[partition_key(tenant, user)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: Option<String>, //~ T026
        id: u32,
    }
}

mod range_without_order {
    use table_core::{Entity, KeyPart};

    #[derive(KeyPart)]
    pub enum Stage {
        Open,
        Closed,
    }

    #[derive(Entity)]
    #[partition_key(tenant, stage)]
    #[row_key(id)]
    pub struct Ticket {
        tenant: String,
        stage: Stage,
        id: u32,
    }

    fn uses() {
        let _ = Ticket::within("contoso").stage(Stage::Open..); //~ T082
    }
}

mod transaction_of_prefix {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(tenant, user, session)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: String,
        session: u32,
        id: u32,
        kind: String,
    }

    fn write(events: &Table<Event, Engine>) {
        let _ = events.transaction(Event::within("contoso")); //~ T085
    }
}

mod value_for_range {
    use table_core::{Engine, Entity, Table};

    #[derive(Entity)]
    #[partition_key(tenant, user, session)]
    #[row_key(id)]
    pub struct Event {
        tenant: String,
        user: String,
        session: u32,
        id: u32,
        kind: String,
    }

    fn read(events: &Table<Event, Engine>) {
        let _ = events.query(Event::within("contoso").user("ada")); //~ T081
    }
}

fn main() {}
