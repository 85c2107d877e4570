use chrono::{DateTime, Utc};
use table_core::{Entity, access_patterns};

#[derive(Entity)]
#[partition_key("log_", minute, "_", node)]
#[row_key(number)]
struct Log {
    minute: DateTime<Utc>,
    node: String,
    number: u64,
}

access_patterns! {
    Logs for Log {
        since(from: DateTime<Utc>) <= partition = Log::partitions_by_minute(from..);
    }
}

fn main() {}
