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
    weekday: Weekday,
    id: u32,
}

fn main() {}
