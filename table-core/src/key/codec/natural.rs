//! Default codecs of types.

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

use crate::key::codec::{CodePoint, Date, Flag, Guid, KeyPart, Padded, Text, Ticks};

macro_rules! natural {
    ($($codec:ident: $($type:ty),+;)*) => {
        $($(impl KeyPart for $type {
            type Codec = $codec;
        })+)*
    };
}

natural! {
    Padded: u8, u16, u32, u64, u128, i8, i16, i32, i64, i128;
    Text: String;
    Flag: bool;
    CodePoint: char;
    Guid: Uuid;
    Ticks: DateTime<Utc>;
    Date: NaiveDate;
}
