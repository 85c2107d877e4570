//! Codecs that do not support the types of their fields.

use chrono::{DateTime, NaiveDate, Utc};
use table_core::{Entity, KeyPart};

#[derive(Entity)]
#[partition_key(department)]
#[row_key(digits(6, id))]
struct DigitsOfU16 {
    department: String,
    id: u16, //~ T029
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(desc(digits(20, id)))]
struct DigitsWithin {
    department: String,
    id: i64, //~ T029
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct DigitsOfField {
    department: String,
    #[digits(4)]
    id: u8, //~ T029
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(hex(9, id))]
struct HexTooLong {
    department: String,
    id: u32, //~ T029
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(hex(8, id))]
struct HexOfSigned {
    department: String,
    id: i32, //~ T029
}

#[derive(Entity)]
#[partition_key(hash(crc32, 9, user))]
#[row_key(user)]
struct HashTooLong {
    user: String, //~ T029
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(without('/', name), "_", id)]
struct WithoutSlash {
    department: String,
    name: String, //~ T037
    id: u32,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(without('é', name), "_", id)]
struct WithoutBeyondAscii {
    department: String,
    name: String, //~ T037
    id: u32,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("yyyy-MM-dd HH:mm", day))]
struct HoursOfDay {
    department: String,
    day: NaiveDate, //~ T008
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("HH:mm", at))]
struct InstantWithoutDay {
    department: String,
    at: DateTime<Utc>, //~ T008
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("yyyy-dd", day))]
struct PatternWithGap {
    department: String,
    day: NaiveDate, //~ T008
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByAge, row_key("age_", digits(4, age), "_", id))]
struct DigitsOfIndex {
    department: String,
    id: u32,
    age: u8, //~ T029
}

#[derive(KeyPart)]
#[digits(6)]
struct EmployeeId(u16); //~ T029

#[derive(Entity)]
#[partition_key(department)]
#[row_key(id)]
struct OfNewtype {
    department: String,
    id: EmployeeId,
}

fn main() {}
