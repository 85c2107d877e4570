use chrono::{DateTime, Utc};
use table_core::{Engine, Entity, TableStoreExt};

#[derive(Entity)]
#[partition_key(device)]
#[row_key(truncate(hour(at)))]
struct Sample {
    device: String,
    at: DateTime<Utc>,
    value: f64,
}

fn main() {
    let samples = Engine::in_memory().table::<Sample>();
    let at = DateTime::<Utc>::MIN_UTC;
    let _ = samples.patch(Sample::key("pump", at)).set(Sample::VALUE, 1.0).set(Sample::AT, at);
}
