//! The default codec of each type.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use uuid::Uuid;

use crate::key::codec::{
    Boolean, CodePoint, Date, Guid, IpAddress, KeyPart, Nanoseconds, Padded, Pattern, Text, Ticks, pattern,
};

/// The default codec for a time of day: all digits, without separators, as in [`Date`].
type Time = Pattern<{ pattern("HHmmssfffffffff") }>;

macro_rules! natural {
    ($($codec:ident: $($type:ty),+;)*) => {
        $($(
            #[diagnostic::do_not_recommend]
            impl KeyPart for $type {
                type Codec = $codec;
            }
        )+)*
    };
}

natural! {
    Padded: u8, u16, u32, u64, u128, i8, i16, i32, i64, i128;
    Text: String;
    Boolean: bool;
    CodePoint: char;
    Guid: Uuid;
    Ticks: DateTime<Utc>;
    Date: NaiveDate;
    Time: NaiveTime;
    Nanoseconds: Duration, TimeDelta;
    IpAddress: Ipv4Addr, Ipv6Addr, IpAddr;
}
