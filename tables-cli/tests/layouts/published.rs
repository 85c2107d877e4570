//! More rows in the layouts of published programs, as input for `infer`.

use base64::Engine as _;
use table_core::{TableEntity, Value, ticks};
use uuid::Uuid;

use super::row;

/// The time of all rows, in ticks (8 August 2022).
const AT: u64 = 637_955_136_000_000_000;

fn text(value: impl Into<String>) -> Value {
    Value::String(value.into())
}

fn time(at: u64) -> Value {
    ticks::to_datetime(at).unwrap().into()
}

fn guid(number: u64) -> Uuid {
    Uuid::from_u128((u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 64) | u128::from(number))
}

/// Returns Windows Azure Diagnostics logs. The PartitionKey consists of a zero and the ticks of the minute. The RowKey consists of a role, an instance and a
/// number.
pub(crate) fn wad_logs() -> Vec<TableEntity> {
    let line = |n: u64| {
        let key = format!("ab12cd___Web___Web_IN_{}___{:010}___WADLogs", n % 3, 4_000_000_000 + n);
        let properties = [
            ("EventTickCount", Value::Int64(i64::try_from(AT + n).unwrap())),
            ("DeploymentId", text("ab12cd")),
            ("Role", text("Web")),
            ("RoleInstance", text(format!("Web_IN_{}", n % 3))),
            ("Level", Value::Int32(4)),
            ("Message", text(format!("message {n}; TraceSource 'w3wp.exe'"))),
            ("PreciseTimeStamp", time(AT + n)),
        ];
        row(&format!("0{}", AT + n / 10 * 600_000_000), &key, &properties)
    };
    (0..60).map(line).collect()
}

/// Returns instances of Durable Functions. The PartitionKey is the ID of the instance, and the RowKey is empty.
pub(crate) fn durable_instances() -> Vec<TableEntity> {
    let line = |n: u64| {
        let mut entity = row(
            &guid(n).simple().to_string(),
            "",
            &[
                ("ExecutionId", text(guid(n + 100).simple().to_string())),
                ("Name", text("PlaceOrder")),
                ("Version", text("")),
                ("Input", text(format!("{{\"order\":{n}}}"))),
                ("CreatedTime", time(AT + n)),
                ("LastUpdatedTime", time(AT + 2 * n)),
                ("RuntimeStatus", text(if n.is_multiple_of(3) { "Running" } else { "Completed" })),
                ("TaskHubName", text("hub")),
            ],
        );
        if !n.is_multiple_of(3) {
            entity.insert("Output", format!("\"done {n}\""));
            entity.insert("CompletedTime", time(AT + 3 * n));
        }
        entity
    };
    (0..30).map(line).collect()
}

/// Returns the history of Durable Functions instances. It consists of events with hexadecimal numbers, and one sentinel row per instance.
pub(crate) fn durable_history() -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for instance in 0..5 {
        let (partition, execution) =
            (guid(instance).simple().to_string(), guid(instance + 50).simple().to_string());
        for n in 0..20_u64 {
            let properties = [
                ("EventId", Value::Int32(i32::try_from(n).unwrap() - 1)),
                ("EventType", text(if n == 0 { "ExecutionStarted" } else { "TaskScheduled" })),
                ("ExecutionId", text(execution.clone())),
                ("IsPlayed", Value::Boolean(n.is_multiple_of(2))),
                ("_Timestamp", time(AT + n)),
            ];
            rows.push(row(&partition, &format!("{n:016X}"), &properties));
        }
        let properties =
            [("ExecutionId", text(execution)), ("CheckpointCompletedTimestamp", time(AT + instance))];
        rows.push(row(&partition, "sentinel", &properties));
    }
    rows
}

/// Returns Orleans reminders. The PartitionKey consists of a service and a hash. The RowKey consists of a grain and the name of the reminder.
pub(crate) fn orleans_reminders() -> Vec<TableEntity> {
    let line = |n: u64| {
        let hash = n.wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF;
        let grain = format!("GrainReference={:016x}{n:016x}06ffffff", 0);
        let properties = [
            ("ServiceId", text("orders")),
            ("DeploymentId", text("v12")),
            ("GrainReference", text(grain.clone())),
            ("GrainRefConsistentHash", text(format!("{hash:08X}"))),
            ("ReminderName", text("close")),
            ("StartAt", text("2022-08-08T00:00:00.0000000Z")),
            ("Period", text("1.00:00:00")),
        ];
        row(&format!("orders_{hash:08X}"), &format!("{}-close", grain.replace('=', "_")), &properties)
    };
    (0..40).map(line).collect()
}

/// Returns the state of Orleans grains.
pub(crate) fn orleans_state() -> Vec<TableEntity> {
    let line = |n: u8| {
        let mut entity = row(
            &format!("orders_GrainReference={:016x}{n:016x}06ffffff", 0),
            "Contoso.Orders.CartGrain",
            &[("BinaryData", vec![n; 20].into())],
        );
        if n.is_multiple_of(4) {
            entity.insert("BinaryData1", vec![n; 3]);
        }
        entity
    };
    (0..40).map(line).collect()
}

/// Returns `NServiceBus` subscriptions. The PartitionKey is a message type, and the RowKey is an endpoint in Base64.
pub(crate) fn subscriptions() -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for message in ["OrderPlaced", "OrderBilled", "OrderShipped"] {
        for endpoint in ["Sales", "Billing", "Shipping", "Web"] {
            let key = base64::engine::general_purpose::STANDARD.encode(format!("contoso.{endpoint}@queue"));
            let partition = format!("Contoso.Messages.{message}, Version=1.0.0.0");
            rows.push(row(&partition, &key.replace('/', "_"), &[("EndpointName", text(endpoint))]));
        }
    }
    rows
}

/// Returns an Akka.Persistence journal. The `RowKey`s are padded numbers, and one row per actor contains the highest number.
pub(crate) fn akka_journal() -> Vec<TableEntity> {
    let mut rows = Vec::new();
    for actor in ["order-1", "order-2", "cart-7"] {
        for n in 1..=25_i64 {
            let properties = [
                ("persistenceId", text(actor)),
                ("SeqNr", Value::Int64(n)),
                ("Payload", vec![1_u8, 2].into()),
                ("Manifest", text("Contoso.Placed, Contoso")),
                ("UtcTicks", Value::Int64(i64::try_from(AT).unwrap() + n)),
            ];
            rows.push(row(actor, &format!("{n:019}"), &properties));
        }
        rows.push(row(actor, "highestSequenceNr", &[("highestSequenceNr", Value::Int64(25))]));
    }
    rows
}

/// Returns ELMAH errors. The RowKey contains an inverted time.
pub(crate) fn elmah() -> Vec<TableEntity> {
    let line = |n: u64| {
        let properties = [
            ("ApplicationName", text("/LM/W3SVC/1/ROOT")),
            ("ErrorId", text(guid(n).to_string())),
            ("HostName", text("web01")),
            ("StatusCode", Value::Int32(500)),
            ("TimeUtc", time(AT + n)),
            ("AllXml", text("<error />")),
        ];
        row("_LM_W3SVC_1_ROOT", &format!("{:019}", ticks::MAX - (AT + n * 10_000_000)), &properties)
    };
    (0..50).map(line).collect()
}

/// Returns Serilog events. The PartitionKey is a minute in ticks. The RowKey consists of a level, a template and a GUID.
pub(crate) fn serilog() -> Vec<TableEntity> {
    let line = |n: u64| {
        let level = if n.is_multiple_of(5) { "Warning" } else { "Information" };
        let properties = [
            ("Level", text(level)),
            ("MessageTemplate", text("Order {Id} placed")),
            ("RenderedMessage", text(format!("Order {n} placed"))),
            ("Data", text(format!("{{\"Id\":{n}}}"))),
        ];
        let partition = format!("0{}", AT + n / 7 * 600_000_000);
        row(&partition, &format!("{level}|Order {{Id}} placed|{}", guid(n)), &properties)
    };
    (0..70).map(line).collect()
}

/// Returns telemetry. The `RowKey` contains inverted ticks and a two-digit number.
pub(crate) fn telemetry() -> Vec<TableEntity> {
    let line = |n: u64| {
        let left = ticks::MAX - (AT + n * 10_000_000);
        let mut entity = row(
            &format!("device-{:03}", n % 4),
            &format!("{left:019}_{:02}", n % 100),
            &[("Temperature", Value::Double(0.5 + f64::from(u32::try_from(n).unwrap())))],
        );
        if n.is_multiple_of(2) {
            entity.insert("Humidity", Value::Int32(40));
        }
        entity
    };
    (0..80).map(line).collect()
}

/// Returns the conversation state of the Bot Framework. The keys are escaped and contain a channel, a conversation and a user.
pub(crate) fn bot_state() -> Vec<TableEntity> {
    let line = |n: u64| {
        let (id, user) = (guid(n), guid(n % 5));
        let (partition, row_key) = (format!("emulator:conversations:{id}"), format!("users:{user}"));
        let properties = [("Data", text("{\"step\":2}")), ("ETag", text("*")), ("Turns", Value::Int32(3))];
        row(&partition, &row_key, &properties)
    };
    (0..30).map(line).collect()
}
