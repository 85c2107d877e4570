//! Generates invalid rows and messages, called odd, as another program or the holder of a SAS could write them.

use pollster::block_on;
use rand::RngExt;
use rand::rngs::StdRng;
use table_core::embedded::Engine;
use table_core::queue::{PutMessage, QueueStore};
use table_core::row::RowWriter;
use table_core::{
    EntityKey, Operation, OperationKind, PartitionKey, QueueName, RowKey, TableName, TableStore,
    TableStoreExt, Transaction, ValueRef,
};

use crate::together::desk::TENANT;

/// The prefix reserved for the keys of the patterns themselves.
const RESERVED: char = '\u{FFFC}';

/// Returns the keys of the invalid rows: table, partition key and row key.
fn places() -> Vec<(&'static str, &'static str, String)> {
    let reserved = [
        "feed_",
        "feed_0639307584000000000_00",
        "feed_00000000000000000007",
        "feed_zzz",
        "outbox_",
        "outbox_0000000000000000aaaaaaaaaaaaaaaa",
        "poison_0000000000000000aaaaaaaaaaaaaaaa",
        "copy_",
        "copy_person_0\u{FFFC}00",
        "copy_person_0\u{FFFC}owner\u{FFFC}elsewhere\u{FFFC}x",
        "guard_x",
        "sequence_n",
        "reservation_",
        "reservation_0000000001_0000000000000001",
        "zzz",
    ];
    let mut places: Vec<_> = reserved
        .iter()
        .flat_map(|key| [TENANT, "odd"].map(|partition| ("Desk", partition, format!("{RESERVED}{key}"))))
        .collect();
    for (table, partition) in
        [("Queues", "queue_contoso"), ("Badges", "badge"), ("Tags", "red"), ("Tags", "odd")]
    {
        places.push((table, partition, "odd".to_owned()));
        places.push((table, partition, format!("{RESERVED}guard_odd")));
    }
    for key in ["view_of_odd", "view_by_odd", "view_poison_odd", "view_odd", "odd"] {
        places.push(("Totals", "odd", format!("{RESERVED}{key}")));
    }
    for registry in ["TablesOutbox", "TablesFeeds"] {
        places.push((registry, "desk_00", "odd".to_owned()));
        places.push((registry, "odd", "odd".to_owned()));
    }
    places
}

/// Returns `true` if only this module writes rows with this key to the table `Desk`. Such a row must be an invalid one.
pub fn is_place(key: &EntityKey) -> bool {
    let names = |(table, partition, row_key): &(&str, &str, String)| {
        *table == "Desk" && key.partition_key.as_str() == *partition && key.row_key.as_str() == row_key
    };
    key.row_key.as_str() == "odd" || places().iter().any(names)
}

/// Inserts a random invalid row. Returns `true` if it is an outbox row. Workers will mark such a row as poison.
pub fn row(engine: &Engine, rng: &mut StdRng) -> bool {
    let places = places();
    let (table, partition, row_key) = &places[rng.random_range(0..places.len())];
    let mut row = RowWriter::new();
    match rng.random_range(0..4) {
        0 => {}
        1 => row.property("X", ValueRef::Int32(1)),
        2 => row.property("Intent", ValueRef::Binary(b"{\"Version\":1}")),
        // The types of these properties differ from the types that the patterns write.
        _ => {
            row.property("Intent", ValueRef::Int64(-1));
            row.property("Table", ValueRef::Boolean(true));
            row.property("Version", ValueRef::String("odd"));
        }
    }
    let (table, partition_key) = (TableName::new(table).unwrap(), PartitionKey::new(*partition).unwrap());
    let mut transaction = Transaction::new(partition_key, engine.capabilities().limits).unwrap();
    let row_key = RowKey::new(row_key.as_str()).unwrap();
    let is_outbox = row_key.as_str().starts_with("\u{FFFC}outbox_");
    transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
    block_on(engine.create_table_if_missing(&table)).unwrap();
    // The insert is rejected if the row already exists.
    let _ = block_on(engine.submit(&table, transaction));
    is_outbox
}

/// The invalid messages.
const MESSAGES: [&str; 7] = [
    "",
    "odd",
    "{}",
    r#"{"Version":9,"Table":"Desk","PartitionKey":"contoso"}"#,
    r#"{"Version":1,"Table":"Nowhere","PartitionKey":"contoso"}"#,
    r#"{"Version":1,"Table":"Desk","PartitionKey":"contoso","RowKey":"ticket_000"}"#,
    r#"{"Version":1,"Table":"Desk","PartitionKey":"odd"}"#,
];

/// Puts a random invalid message into the queue of the workers.
pub fn message(queues: &Engine, rng: &mut StdRng) {
    let text = MESSAGES[rng.random_range(0..MESSAGES.len())];
    block_on(queues.put(&QueueName::new("work").unwrap(), PutMessage::new(text))).unwrap();
}

/// Returns `true` if the text of a poison entry describes an invalid message or an invalid outbox row.
pub fn is_work(text: &str) -> bool {
    let is_row =
        || ["outbox_\"", "outbox_0000000000000000aaaaaaaaaaaaaaaa\""].iter().any(|key| text.contains(key));
    MESSAGES.contains(&text) || is_row()
}
