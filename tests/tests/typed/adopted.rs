//! Layouts of public projects, declared: their literal keys both ways, and their typed queries.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]
#![expect(clippy::struct_field_names, reason = "names of layouts")]

use chrono::{DateTime, NaiveDate, Utc};
use pollster::block_on;
use table_core::{Engine, Entity, KeyPart, Selection, TableStoreExt, Versioned};
use uuid::Uuid;

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn key_of(entity: &impl Entity) -> (String, String) {
    let key = entity.key_of().unwrap();
    (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned())
}

/// Inserts entities and reads the last one back by its key.
macro_rules! stored {
    ($type:ident, [$($entity:expr),+ $(,)?]) => {{
        let table = Engine::in_memory().table::<$type>().create_if_missing().await.unwrap();
        for entity in [$($entity),+] {
            table.insert(&entity).await.unwrap();
        }
        table
    }};
}

/// History of an orchestration: `KeySanitation.EscapePartitionKey` and `{sequence:X16}` of `DurableTask.AzureStorage`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "History")]
#[partition_key(caret(instance))]
#[row_key(hex(16, upper, sequence))]
struct History {
    instance: String,
    sequence: u64,
    event: String,
}

#[test]
fn the_durable_task_framework() {
    block_on(async {
        let of = |sequence| History {
            instance: "order/7".to_owned(),
            sequence,
            event: "TaskScheduled".to_owned(),
        };
        assert_eq!(key_of(&of(42)), ("order^07".to_owned(), "000000000000002A".to_owned()));
        let history = stored!(History, [of(1), of(9), of(10), of(42)]);
        let later = history.query(History::rows("order/7").sequence(10..)).collect().await.unwrap();
        assert_eq!(later.iter().map(|event| event.sequence).collect::<Vec<_>>(), [10, 42]);
        assert_eq!(*history.get(History::key("order/7", 9)).await.unwrap().unwrap().value(), of(9));
    });
}

/// The journal of `Akka.Persistence.Azure`: events of 19 digits, in one partition with a head row.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Journal")]
#[partition_key(persistence_id)]
#[row_key(sequence)]
struct Event {
    persistence_id: String,
    #[digits(19)]
    sequence: u64,
    payload: Vec<u8>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Journal")]
#[partition_key(persistence_id)]
#[row_key("highestSequenceNr")]
struct Head {
    persistence_id: String,
    highest: i64,
}

#[test]
fn the_journal_of_the_actor_framework() {
    block_on(async {
        let store = Engine::in_memory();
        let events = store.table::<Event>().create_if_missing().await.unwrap();
        let heads = store.table::<Head>().create_if_missing().await.unwrap();
        for sequence in 1..=3 {
            let event = Event { persistence_id: "user-1".to_owned(), sequence, payload: vec![0] };
            events.insert(&event).await.unwrap();
        }
        heads.insert(&Head { persistence_id: "user-1".to_owned(), highest: 3 }).await.unwrap();
        // The head row is in the partition and not in the range.
        let replayed = events.query(Event::rows("user-1").sequence(2..)).collect().await.unwrap();
        assert_eq!(replayed.iter().map(|event| event.sequence).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(heads.get(Head::key("user-1")).await.unwrap().unwrap().highest, 3);
    });
}

/// The guest book of the Windows Azure training kit: `MMddyyyy`, then inverted ticks and a guid.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "GuestBookEntry", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(pattern("MMddyyyy", day))]
#[row_key(desc(at), "_", id)]
struct GuestBookEntry {
    day: NaiveDate,
    at: DateTime<Utc>,
    id: Uuid,
    message: String,
}

#[test]
fn the_guest_book() {
    block_on(async {
        let of = |text: &str| GuestBookEntry {
            day: NaiveDate::from_ymd_opt(2014, 4, 23).unwrap(),
            at: instant(text),
            id: Uuid::from_u128(7),
            message: "Hello".to_owned(),
        };
        let (old, new) = (of("2000-01-20T11:25:42Z"), of("2001-01-20T11:25:42Z"));
        let key = key_of(&old);
        assert_eq!(key.0, "04232014");
        assert_eq!(key.1, "2524539332579999999_00000000-0000-0000-0000-000000000007");
        let book = stored!(GuestBookEntry, [old.clone(), new.clone()]);
        let newest = book.query(GuestBookEntry::rows(old.day)).top(1).page().await.unwrap();
        assert_eq!(newest.items.first().map(Versioned::value), Some(&new));
    });
}

/// Logs of Azure Diagnostics: `0` and the ticks of a minute, which the event is finer than.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "WADLogsTable", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("0", minute)]
#[row_key(deployment, "___", role, "___", instance, "___", number)]
struct Diagnostics {
    minute: DateTime<Utc>,
    #[without('_')]
    deployment: String,
    #[without('_')]
    role: String,
    instance: String,
    #[digits(19)]
    number: u64,
    message: String,
}

#[test]
fn the_logs_of_azure_diagnostics() {
    let entry = Diagnostics {
        minute: instant("2000-01-20T11:25:00Z"),
        deployment: "4f9d2c".to_owned(),
        role: "Web".to_owned(),
        instance: "Web_IN_0".to_owned(),
        number: 1_652,
        message: "started".to_owned(),
    };
    let key = key_of(&entry);
    assert_eq!(key.0, "00630839643000000000");
    assert_eq!(key.1, "4f9d2c___Web___Web_IN_0___0000000000000001652");
    block_on(async {
        let logs = stored!(Diagnostics, [entry.clone()]);
        let found =
            logs.get(Diagnostics::key(entry.minute, "4f9d2c", "Web", "Web_IN_0", 1_652)).await.unwrap();
        assert_eq!(*found.unwrap().value(), entry, "an instance with underscores is read from the right");
    });
}

/// Everything that a part says less than its field: the field is a property, and checked against the key.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Visits", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(truncate(pattern("yyyyMMdd", at)), "_", replaced('/', '-', path))]
#[row_key(hash(crc32, 4, user), "_", folded(lower, user), "_", unpadded(visit))]
struct Visit {
    at: DateTime<Utc>,
    #[property("Who")]
    user: String,
    path: String,
    visit: u64,
}

#[test]
fn derived_parts_leave_their_fields_properties() {
    block_on(async {
        let of = |at: &str, visit| Visit {
            at: instant(at),
            user: "Ada".to_owned(),
            path: "a/b".to_owned(),
            visit,
        };
        let visit = of("2014-04-23T09:05:07Z", 7);
        let key = key_of(&visit);
        assert_eq!(key.0, "20140423_a-b");
        assert!(key.1.ends_with("_ada_7"), "{key:?}");
        let visits =
            stored!(Visit, [visit.clone(), of("2014-04-23T23:00:00Z", 8), of("2014-04-24T00:00:00Z", 7)]);
        let day =
            visits.query(Visit::partition(instant("2014-04-23T12:00:00Z"), "a/b")).collect().await.unwrap();
        assert_eq!(day.iter().map(|visit| visit.visit).collect::<Vec<_>>(), [7, 8]);
        let found = visits.get(Visit::key(visit.at, "a/b", "Ada", 7)).await.unwrap().unwrap();
        assert_eq!(*found.value(), visit);
    });
}

/// Samples of a device by the hour, each under its own instant.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Samples")]
#[partition_key(device)]
#[row_key(truncate(hour(at)), "_", sensor)]
struct Sample {
    device: String,
    at: DateTime<Utc>,
    #[hex(4)]
    sensor: u16,
}

#[test]
fn a_range_of_instants_over_their_hours_holds_both_ends() {
    block_on(async {
        let of = |at: &str| Sample { device: "pump".to_owned(), at: instant(at), sensor: 0xBEEF };
        let samples = stored!(
            Sample,
            [
                of("2014-04-23T08:59:59Z"),
                of("2014-04-23T09:30:00Z"),
                of("2014-04-23T10:15:00Z"),
                of("2014-04-23T11:00:00Z")
            ]
        );
        let (from, until) = (instant("2014-04-23T09:31:00Z"), instant("2014-04-23T10:30:00Z"));
        let rows = samples.query(Sample::rows("pump").at(from..until)).collect().await.unwrap();
        let hours: Vec<String> = rows.iter().map(|sample| sample.at.format("%H:%M").to_string()).collect();
        assert_eq!(
            hours,
            ["09:30", "10:15"],
            "no row of the range is missed; those beside it are recognized by the property"
        );
        let hour: Selection<Sample, _, _> = Sample::rows("pump").at_is(from).into();
        assert_eq!(samples.query(hour).collect().await.unwrap().len(), 1);
    });
}

/// An identifier whose form is its type's.
#[derive(KeyPart, Clone, Debug, PartialEq)]
#[guid(simple)]
struct SessionId(Uuid);

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Sessions")]
#[partition_key(tenant, "-", session)]
#[row_key("at_", inverted(9_223_372_036_854_775_807, unix(millis, at)), "_", request)]
#[index(ByUrl, row_key("url_", percent(url), "!", at, "_", request))]
struct Session {
    tenant: String,
    session: SessionId,
    at: DateTime<Utc>,
    url: String,
    #[ulid]
    request: String,
}

#[test]
fn a_codec_of_a_type_beside_text_and_in_an_index() {
    let session = Session {
        tenant: "con-toso".to_owned(),
        session: SessionId(Uuid::from_u128(0xABC)),
        at: instant("2000-01-20T11:25:42Z"),
        url: "https://contoso.com/a".to_owned(),
        request: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
    };
    let key = key_of(&session);
    assert_eq!(key.0, "con-toso-00000000000000000000000000000abc");
    assert_eq!(key.1, "at_9223371088487233807_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let index = Session::SCHEMA.indexes.first().unwrap();
    assert_eq!(index.name, "ByUrl");
}
