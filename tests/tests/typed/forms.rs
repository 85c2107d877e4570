//! Tests the data formats of other programs:
//! - key fields that are also properties
//! - a field for all remaining properties
//! - values in chunks
//! - rows in one partition that differ only in their kind
//! - keys that cannot be parsed

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::struct_field_names, reason = "names of layouts")]

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::{
    EdmType, Engine, Entity, EntitySet, ErrorCode, IfMatch, Projection, TableEntity, TableStoreExt, Value,
};

use crate::published::both_ways;

/// The head of a `Streamstone` stream, in the row `SS-HEAD`. The events of the stream have the row keys `SS-SE-0000000001` and so on. Each event also stores
/// its version as a property.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-HEAD")]
struct Head {
    stream: String,
    version: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-SE-", digits(10, version))]
#[index(ByType, partition_key("type_", kind), row_key(stream, "!", version))]
struct Event {
    #[escaped]
    stream: String,
    #[property(also)]
    version: u32,
    #[property("Type")]
    kind: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Stream {
    Head(Head),
    Event(Event),
    #[other]
    Other(TableEntity),
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Event)]
struct Position {
    version: u32,
}

fn event(version: u32) -> Event {
    Event { stream: "account-1".to_owned(), version, kind: "Deposited".to_owned() }
}

#[test]
fn a_field_of_the_key_is_a_property_too() {
    block_on(async {
        let store = Engine::in_memory();
        let events = store.table::<Event>().create_if_missing().await.unwrap();
        let bags = store.untyped("Streams").unwrap();
        both_ways(&event(1), ("account-1", "SS-SE-0000000001"));
        let key = event(1).key_of().unwrap();
        for version in 1..=3 {
            let row = event(version).to_row().unwrap();
            assert_eq!(row.view().at(0).unwrap().name, "Version");
            let bag = TableEntity::from(event(version).key_of().unwrap())
                .with("Version", i64::from(version))
                .with("Type", "Deposited");
            bags.insert(&bag).await.unwrap();
        }
        let newest = events.query(Event::rows("account-1")).filter(Event::VERSION.ge(2_u32));
        let found = newest.collect().await.unwrap();
        assert_eq!(found, [event(2), event(3)]);
        let positions = events.query(Event::rows("account-1").version(2..)).project::<Position>();
        assert_eq!(positions.collect().await.unwrap()[0], Position { version: 2 });

        // Another program has changed one of the two values.
        bags.merge(&TableEntity::from(key).with("Version", 7_i64), IfMatch::Any).await.unwrap();
        let error = events.get(Event::key("account-1", 1_u32)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::EntityMismatch);
        let message = error.to_string();
        assert!(message.contains("the key contains '0000000001' for `version`"), "{message}");
        assert!(message.contains("property `Version` gives '0000000007'"), "{message}");
    });
}

/// An employee who can be found by e-mail address.
#[derive(Entity)]
#[partition_key(department)]
#[row_key("empid_", digits(6, id))]
#[index(ByEmail, unique, partition_key("email_", email), row_key(""))]
struct Employee {
    department: String,
    #[property("EmployeeId", also)]
    id: u32,
    email: String,
}

#[test]
fn copies_store_key_fields_with_their_types() {
    let index = Event::SCHEMA.indexes.first().unwrap();
    assert!(
        index.properties.iter().all(|property| property.name != "Version"),
        "the key of the copy says it"
    );

    let by_email = Employee::SCHEMA.indexes.first().unwrap();
    let of = |name| by_email.properties.iter().find(|property| property.name == name).map(|found| found.edm);
    assert_eq!((of("Department"), of("EmployeeId")), (Some(EdmType::String), Some(EdmType::Int64)));
}

#[test]
fn head_row_newest_n_and_versions_of_a_stream() {
    block_on(async {
        let store = Engine::in_memory();
        let heads = store.table::<Head>().create_if_missing().await.unwrap();
        let bags = store.untyped("Streams").unwrap();
        heads.insert(&Head { stream: "account-1".to_owned(), version: 3 }).await.unwrap();
        for version in 1..=3 {
            let row = event(version);
            let bag = TableEntity::from(row.key_of().unwrap())
                .with("Version", i64::from(version))
                .with("Type", row.kind);
            bags.insert(&bag).await.unwrap();
        }
        bags.insert(&TableEntity::new("account-1", "SS-UID-7").unwrap()).await.unwrap();
        let head = heads.get(Head::key("account-1")).await.unwrap().unwrap();
        assert_eq!(head.version, 3);
        let events = store.table::<Event>();
        let last = u32::try_from(head.version).unwrap();
        let newest = events.query(Event::rows("account-1").version(last - 1..)).collect().await.unwrap();
        assert_eq!(newest.iter().map(|event| event.version).collect::<Vec<_>>(), [2, 3]);
        let all = heads.query(Head::partition("account-1")).read_as::<Stream>().collect().await.unwrap();
        assert!(matches!(&all[0], Stream::Head(head) if head.version == 3));
        assert!(matches!(&all[3], Stream::Event(event) if event.version == 3));
        assert!(matches!(&all[4], Stream::Other(bag) if bag.key().row_key.as_str() == "SS-UID-7"));
    });
}

/// A silo in an Orleans cluster (`OrleansSiloInstances`). The table contains one row for each silo, and a row called `VersionRow`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansSiloInstances")]
#[partition_key(cluster)]
#[row_key(address, "-", port, "-", generation)]
struct Silo {
    #[property("DeploymentId", also)]
    cluster: String,
    #[without('-')]
    #[property(also)]
    address: String,
    #[without('-')]
    #[property(also)]
    port: String,
    #[without('-')]
    #[property(also)]
    generation: String,
    status: String,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansSiloInstances")]
#[partition_key(cluster)]
#[row_key("VersionRow")]
struct ClusterVersion {
    #[property("DeploymentId", also)]
    cluster: String,
    membership_version: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Membership {
    Silo(Silo),
    Version(ClusterVersion),
    #[other]
    Other(TableEntity),
}

fn silo_bag() -> TableEntity {
    TableEntity::new("shop", "10.0.0.4-11111-386923572")
        .unwrap()
        .with("DeploymentId", "shop")
        .with("Address", "10.0.0.4")
        .with("Port", "11111")
        .with("Generation", "386923572")
        .with("Status", "Active")
        .with("HostName", "web-1")
        .with("EntityType", "Silo")
        .with("IAmAliveTime", "2024-02-28 09:05:07.250 GMT")
}

#[test]
fn kinds_of_one_partition_and_the_rest_of_a_row() {
    block_on(async {
        let store = Engine::in_memory();
        let silos = store.table::<Silo>().create_if_missing().await.unwrap();
        let bags = store.untyped("OrleansSiloInstances").unwrap();
        bags.insert(&silo_bag()).await.unwrap();
        let version = ClusterVersion { cluster: "shop".to_owned(), membership_version: "7".to_owned() };
        store.table::<ClusterVersion>().insert(&version).await.unwrap();
        let members = silos.query(Silo::partition("shop")).read_as::<Membership>().collect().await.unwrap();
        let Membership::Silo(silo) = &members[0] else { panic!("{members:?}") };
        assert_eq!((silo.port.as_str(), silo.status.as_str()), ("11111", "Active"));
        assert_eq!(silo.rest.get("HostName"), Some(&Value::from("web-1")));
        both_ways(silo, ("shop", "10.0.0.4-11111-386923572"));
        both_ways(&version, ("shop", "VersionRow"));
        assert!(matches!(&members[1], Membership::Version(found) if *found == version));

        // Replaces and updates also write properties that have no field.
        let key = || Silo::key("shop", "10.0.0.4", "11111", "386923572");
        let read = silos.get(key()).await.unwrap().unwrap();
        let mut dead = read.value().clone();
        dead.status = "Dead".to_owned();
        silos.replace(&dead, read.etag().clone()).await.unwrap();
        silos.update(key(), |silo| drop(silo.rest.remove("IAmAliveTime"))).await.unwrap();
        let stored = bags.get(silo_bag().key()).await.unwrap().unwrap();
        assert_eq!(stored.get("HostName"), Some(&Value::from("web-1")));
        assert_eq!(stored.get("Status"), Some(&Value::from("Dead")));
        assert_eq!(stored.get("IAmAliveTime"), None);

        let mut twice = dead.clone();
        twice.rest.insert("Status".to_owned(), "Joining".into());
        let error = silos.insert_or_replace(&twice).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::DuplicatePropertiesSpecified);
        assert!(error.to_string().contains("property `Status`"), "{error}");
    });
}

/// The state of an Orleans grain (`AzureTableGrainStorage`), in the properties `Data`, `Data1`, … of 64 KiB each.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansGrainState")]
#[partition_key(grain)]
#[row_key(state)]
struct GrainState {
    grain: String,
    state: String,
    #[property(chunks)]
    data: Vec<u8>,
    #[property("StringData", chunks)]
    text: Option<String>,
    changed: DateTime<Utc>,
}

#[test]
fn one_field_in_chunks() {
    block_on(async {
        let store = Engine::in_memory();
        let states = store.table::<GrainState>().create_if_missing().await.unwrap();
        let state = GrainState {
            grain: "shop_GrainReference=0300".to_owned(),
            state: "Cart".to_owned(),
            data: (0..200_000_u32).map(|byte| byte.to_le_bytes()[0]).collect(),
            text: None,
            changed: "2024-02-28T09:05:07Z".parse().unwrap(),
        };
        states.insert(&state).await.unwrap();
        let bags = store.untyped("OrleansGrainState").unwrap();
        let bag = bags.get(&state.key_of().unwrap()).await.unwrap().unwrap();
        let size = |name| match bag.get(name) {
            Some(Value::Binary(bytes)) => bytes.len(),
            _ => 0,
        };
        assert_eq!(
            ["Data", "Data1", "Data2", "Data3", "Data4"].map(size),
            [65_536, 65_536, 65_536, 3_392, 0]
        );
        let key = || GrainState::key("shop_GrainReference=0300", "Cart");
        assert_eq!(states.get(key()).await.unwrap().unwrap().value(), &state);

        // No chunk of the earlier, longer value remains. If a merge would leave such a chunk, it is rejected.
        let read = states.get(key()).await.unwrap().unwrap();
        let shorter = states.update(&read, |state| state.data.truncate(70_000)).await.unwrap();
        let bag = bags.get(&state.key_of().unwrap()).await.unwrap().unwrap();
        assert_eq!(bag.get("Data2"), None);
        assert_eq!(states.get(key()).await.unwrap().unwrap().value(), shorter.value());
        let refused = states.merge(shorter.value(), IfMatch::Any).await.unwrap_err();
        assert_eq!((refused.code(), refused.rule()), (ErrorCode::InvalidInput, Some("MRG-3")));
        let refused = states.insert_or_merge(shorter.value()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidInput);
        let mut unit = states.transaction(GrainState::partition("shop_GrainReference=0300")).unwrap();
        assert!(unit.insert_or_merge(shorter.value()).is_err());
        assert!(states.bulk().insert_or_merge_all([shorter.value()]).await.is_err());

        let mut large = state.clone();
        large.data = vec![0; 1 << 20];
        let refused = states.insert_or_replace(&large).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::EntityTooLarge);
    });
}

/// An Orleans reminder with the key `{grain}-{name}`. Both parts may contain `-`, so the key cannot be parsed. The fields are therefore also stored as
/// properties.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansReminders", allow(ambiguous_row_key, reason = "the layout of another program"))]
#[partition_key(service, "_", hex(8, upper, hash))]
#[row_key(grain, "-", name)]
struct Reminder {
    #[without('_')]
    #[property("ServiceId", also)]
    service: String,
    hash: u32,
    #[property("GrainReference")]
    grain: String,
    #[property("ReminderName")]
    name: String,
    period: String,
}

#[test]
fn a_key_that_cannot_be_read_back() {
    block_on(async {
        let store = Engine::in_memory();
        let reminders = store.table::<Reminder>().create_if_missing().await.unwrap();
        let of = |grain: &str, name: &str| Reminder {
            service: "shop".to_owned(),
            hash: 0x0F00_0000,
            grain: grain.to_owned(),
            name: name.to_owned(),
            period: "00:01:00".to_owned(),
        };
        let reminder = of("GrainReference=03-00", "tick-tock");
        both_ways(&reminder, ("shop_0F000000", "GrainReference=03-00-tick-tock"));
        let key = reminder.key_of().unwrap();
        reminders.insert(&reminder).await.unwrap();
        let by_key = || Reminder::key("shop", 0x0F00_0000_u32, "GrainReference=03-00", "tick-tock");
        assert_eq!(reminders.get(by_key()).await.unwrap().unwrap().value(), &reminder);
        let all = reminders.query(Reminder::partitions_by_hash("shop", ..)).collect().await.unwrap();
        assert_eq!(all[0], reminder);
        let named = reminders
            .query(Reminder::partition("shop", 0x0F00_0000_u32))
            .filter(Reminder::NAME.eq("tick-tock"));
        assert_eq!(named.collect().await.unwrap().len(), 1);

        // Two reminders have this key. The second is rejected, and a read of the second never returns the first.
        let other = of("GrainReference=03", "00-tick-tock");
        assert_eq!(other.key_of().unwrap(), key);
        let taken = reminders.insert(&other).await.unwrap_err();
        assert_eq!(taken.code(), ErrorCode::EntityAlreadyExists);
        let bags = store.untyped("OrleansReminders").unwrap();
        bags.merge(&TableEntity::from(key).with("ReminderName", "tick"), IfMatch::Any).await.unwrap();
        let error = reminders.get(by_key()).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::EntityMismatch);
        assert!(error.to_string().contains("the properties give 'GrainReference=03-00-tick'"), "{error}");
    });
}

/// The requests of one hour, as counted by Storage Analytics, with keys such as `20140423T0900` and `user;GetBlob`. The test stores a copy in a table of a
/// different name, because the engine has no metrics tables.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "$MetricsHourPrimaryTransactionsBlob",
    allow(hot_partition, reason = "the layout of the service")
)]
#[partition_key(pattern("yyyyMMddTHHmm", hour))]
#[row_key(access, ";", operation)]
struct Requests {
    hour: DateTime<Utc>,
    #[without(';')]
    access: String,
    operation: String,
    total_requests: i64,
    #[property(rest)]
    rest: BTreeMap<String, Value>,
}

#[test]
fn tbl_5_measurements_of_the_service_by_time() {
    block_on(async {
        let store = Engine::in_memory();
        let refused = store.table::<Requests>().create_if_missing().await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::InvalidResourceName);
        let hour = Requests::partition("2014-04-23T09:00:00Z".parse::<DateTime<Utc>>().unwrap());
        let missing = store.table::<Requests>().query(hour).collect().await.unwrap_err();
        assert!(missing.is_table_not_found(), "{missing}");
        let copy = store.table_named::<Requests>("MetricsCopy").unwrap().create_if_missing().await.unwrap();
        let of = |hour: &str, operation: &str| Requests {
            hour: hour.parse().unwrap(),
            access: "user".to_owned(),
            operation: operation.to_owned(),
            total_requests: 7,
            rest: BTreeMap::from([("AverageE2ELatency".to_owned(), Value::Double(1.5))]),
        };
        both_ways(&of("2014-04-23T09:00:00Z", "GetBlob"), ("20140423T0900", "user;GetBlob"));
        for hour in ["2014-04-23T08:00:00Z", "2014-04-23T09:00:00Z", "2014-04-23T10:00:00Z"] {
            for operation in ["All", "GetBlob"] {
                copy.insert(&of(hour, operation)).await.unwrap();
            }
        }
        let from: DateTime<Utc> = "2014-04-23T09:00:00Z".parse().unwrap();
        let found = copy.query(Requests::partitions_by_hour(from..)).collect().await.unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(found[0], of("2014-04-23T09:00:00Z", "All"));
    });
}
