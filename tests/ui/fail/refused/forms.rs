//! Forms that the declaration language does not support. Each is written as a newcomer would try it.

use chrono::{DateTime, Utc};
use table_core::Entity;

#[derive(Entity)]
#[partition_key(department)]
#[row_key(last(3, name))] //~ T001
struct End {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(name[0..3])] //~ T004
struct Slice {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(id % 16)] //~ T004
#[row_key(id)]
struct Ring {
    id: u64,
}

#[derive(Entity)]
#[partition_key(murmur(16, id))] //~ T001
#[row_key(id)]
struct Murmur {
    id: u64,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(round(5, at))] //~ T001
struct Rounded {
    department: String,
    at: DateTime<Utc>,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(folded(turkish, name))] //~ T001
struct Turkish {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(pattern("M/d/yyyy h:mm:ss tt", at))] //~ T008
struct Culture {
    department: String,
    at: DateTime<Utc>,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(if active { "A_" } else { "B_" }, id)] //~ T004
struct Condition {
    department: String,
    active: bool,
    id: u32,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(desc(bucket(name, 16)))] //~ T032
struct BucketWithin {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(truncate(hash(crc32, 8, name)))] //~ T032
struct HashWithin {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(hash(crc32, 8, bucket(name, 16)))] //~ T032
struct BucketInHash {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(desc(derived(Initials, name)))] //~ T032
struct DerivedWithin {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(hash(crc32, 8, derived(Initials, name)))] //~ T032
struct DerivedInHash {
    department: String,
    name: String,
}

#[derive(Entity)]
#[partition_key(department)]
#[row_key(computed(initials_of, name))] //~ T001
struct Computed {
    department: String,
    name: String,
}

fn main() {}
