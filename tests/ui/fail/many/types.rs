//! Types that are not allowed where they are used.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, FixedOffset, Local, NaiveDateTime, Utc};
use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct Properties {
    department: String,
    id: u32,
    list: Vec<String>, //~ T050
    map: HashMap<String, String>, //~ T050
    text: &'static str, //~ T050
    pair: (i32, i32), //~ T050
    time: SystemTime, //~ T050
    spans: std::ops::Range<i32>, //~ T050
    local: DateTime<Local>, //~ T050
    naive: NaiveDateTime, //~ T050
    letter: char, //~ T050
    boxed: Box<String>, //~ T050
    big: Option<i128>, //~ T050
    size: usize, //~ T050
}

struct Celsius(f64);

struct Address {
    city: String,
}

enum State {
    Open,
    Closed,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct MoreProperties {
    department: String,
    id: u32,
    count: std::num::NonZeroU32, //~ T050
    clock: std::time::Instant, //~ T050
    offset: DateTime<FixedOffset>, //~ T050
    bytes: [u8; 16], //~ T050
    slice: Box<[u8]>, //~ T050
    cow: Cow<'static, str>, //~ T050
    shared: Arc<str>, //~ T050
    path: PathBuf, //~ T050
    address: std::net::SocketAddr, //~ T050
    nested: Address, //~ T050
    state: State, //~ T050
    result: Result<String, String>, //~ T050
    unit: (), //~ T050
    tags: Option<Vec<String>>, //~ T050
    signed: i128, //~ T050
    pointer: isize, //~ T050
    perhaps: Option<usize>, //~ T050
    celsius: Celsius, //~ T050
}

// An error in a name must not hide an error in a type.
#[derive(Entity)]
#[entity(table = "P1")] //~ T012
#[partition_key(department)]
#[row_key(id)]
struct NamedWrongly {
    department: String,
    id: u32,
    #[property("Timestamp")] //~ T052
    at: DateTime<Utc>,
    list: Vec<String>, //~ T050
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(weight)]
struct FloatInKey {
    department: String,
    weight: f64, //~ T026
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(text)]
struct ReferenceInKey {
    department: String,
    text: &'static str, //~ T026
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(list)]
struct ListInKey {
    department: String,
    list: Vec<u8>, //~ T026
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(at)]
struct TimeOfStd {
    department: String,
    at: SystemTime, //~ T026
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(size)]
struct SizeInKey {
    department: String,
    size: usize, //~ T026
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(digits(6, name))]
struct DigitsOfText {
    department: String,
    name: String, //~ T030
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(guid(simple, name))]
struct GuidOfText {
    department: String,
    name: String, //~ T030
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(unix(millis, id))]
struct UnixOfNumber {
    department: String,
    id: u64, //~ T030
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(truncate(hour(id)))]
struct TruncateOfNumber {
    department: String,
    id: i64, //~ T031
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(desc(name))]
struct DescOfText {
    department: String,
    name: String, //~ T031
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(truncate(at))]
struct TruncateOfTicks {
    department: String,
    at: DateTime<Utc>, //~ T031
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct TupleInKey {
    department: String,
    id: (u16, u32), //~ T026
}

struct EmployeeId(u32);

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct NewtypeInKey {
    department: String,
    id: EmployeeId, //~ T026
}

type LocalTime = NaiveDateTime;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(at)]
struct LocalTimeInKey {
    department: String,
    at: LocalTime, //~ T026
}

fn main() {}
