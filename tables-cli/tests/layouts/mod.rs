//! Rows in the layouts of published programs, as input for `infer`.

pub(crate) mod published;

use table_core::{TableEntity, Value, ticks};
use uuid::Uuid;

fn row(partition: &str, row: &str, properties: &[(&str, Value)]) -> TableEntity {
    let entity = TableEntity::new(partition, row).unwrap();
    properties.iter().fold(entity, |entity, (name, value)| entity.with(*name, value.clone()))
}

/// Returns event streams as written by Streamstone, each with a head row.
pub(crate) fn streams() -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for stream in ["order-ab", "order-cd", "order-ef"] {
        rows.push(row(stream, "SS-HEAD", &[("Version", 3.into())]));
        for version in 1..=8 {
            let properties =
                [("Version", Value::Int32(version)), ("Type", "Placed".into()), ("Data", "{}".into())];
            rows.push(row(stream, &format!("SS-SE-{version:010}"), &properties));
        }
    }
    rows
}

/// Returns trace logs of cloud services. The PartitionKey consists of a zero and the ticks of the minute. The RowKey has four parts, separated by `___`.
pub(crate) fn diagnostics() -> Vec<TableEntity> {
    let line = |n: u64| {
        let minute = 635_442_654_000_000_000 + n / 4 * 600_000_000;
        let key = format!("deployment___Web___Web_IN_{}___{n:019}", n % 7);
        row(&format!("0{minute}"), &key, &[("Level", 3.into()), ("Message", "started".into())])
    };
    let rows: Vec<_> = (0..40).map(line).collect();
    rows
}

/// Returns log4net events. Their `RowKey`s contain descending ticks and a GUID.
pub(crate) fn logs() -> Vec<TableEntity> {
    let line = |n: u64| {
        let left = ticks::MAX - (638_000_000_000_000_000 + n * 10_000_000);
        let id = Uuid::from_u128((u128::from(n) << 64) | 7);
        row(
            "Shop.Orders",
            &format!("{left:019}.{id}"),
            &[("Level", "WARN".into()), ("Elapsed", Value::Double(0.5))],
        )
    };
    let rows: Vec<_> = (0..20).map(line).collect();
    rows
}

/// Returns metrics by resource and hour. Some of the rows have no value.
pub(crate) fn metrics() -> Vec<TableEntity> {
    let line = |n: i64| {
        let mut entity =
            row(&format!("site:{}", n % 9), &format!("20260211{:02}", n % 24), &[("Total", Value::Int64(n))]);
        if n % 2 == 0 {
            entity.insert("Average", 0.25);
        }
        entity
    };
    let rows: Vec<_> = (0..48).map(line).collect();
    rows
}

/// Returns users, and index rows by address. The keys of the index rows repeat a property.
pub(crate) fn identity() -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for n in 0..10 {
        let (id, email) = (format!("u{n}x"), format!("{}@contoso.com", "abcdefghij".split_at(n).1));
        rows.push(row(
            "users",
            &format!("user_{id}"),
            &[("Id", id.as_str().into()), ("Email", email.as_str().into())],
        ));
        rows.push(row("users", &format!("email_{email}"), &[("UserId", id.as_str().into())]));
    }
    rows
}

/// Returns actor states stored in chunks.
pub(crate) fn chunks() -> Vec<TableEntity> {
    let line = |n: i32| {
        row(
            &format!("actor_{n:03}"),
            "State",
            &[("Data", vec![1_u8; 65_536].into()), ("Data1", vec![2_u8].into())],
        )
    };
    let rows: Vec<_> = (0..6).map(line).collect();
    rows
}

/// Returns sagas of several types, distinguished by their `EntityType`.
pub(crate) fn sagas() -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for n in 0..8_u128 {
        let id = Uuid::from_u128(n << 100 | 0xABC);
        let text = id.simple().to_string();
        let saga =
            [("EntityType", Value::from("Saga")), ("Revision", Value::Int32(1)), ("Body", "{}".into())];
        rows.push(row(&text, "0001", &saga));
        rows.push(row(
            &format!("index|{n}"),
            "number",
            &[("EntityType", "SagaIndex".into()), ("SagaId", Value::Guid(id))],
        ));
    }
    rows
}

/// Returns a task hub's partition leases, one row per partition.
pub(crate) fn leases() -> Vec<TableEntity> {
    let line = |n: i32| {
        let at = ticks::to_datetime(638_000_000_000_000_000 + u64::from(n.unsigned_abs())).unwrap();
        let properties =
            [("CurrentOwner", Value::from("worker")), ("ExpiresAt", at.into()), ("IsDraining", false.into())];
        row("", &format!("hub-control-{n:02}"), &properties)
    };
    let rows: Vec<_> = (0..16).map(line).collect();
    rows
}
