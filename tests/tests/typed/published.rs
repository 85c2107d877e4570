//! Layouts of published programs that log, count and keep users: literal keys both ways, and the queries that those programs ask.

#![expect(clippy::unwrap_used, reason = "a test panics where something is not as it should be")]

mod diagnostics;
mod hosts;
mod messaging;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{
    Engine, Entity, EntityKey, EntitySet, ErrorCode, FromEntity, TableEntity, TableStoreExt, ToEntity,
};
use uuid::Uuid;

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// The literal key is that of the entity, and a row under it that another program wrote is read as the entity.
fn both_ways<E: Entity + FromEntity + PartialEq + std::fmt::Debug>(entity: &E, key: (&str, &str)) {
    let literal = EntityKey::new(key.0, key.1).unwrap();
    assert_eq!(entity.key_of().unwrap(), literal);
    let row = entity.to_row().unwrap();
    let stored = table_core::query::EntityRef::new(key.0, key.1, row.view());
    assert_eq!(E::from_entity(stored).unwrap(), *entity);
}

/// Runs of the functions of a host, newest first: `{host}-{function}-{ticks:D20}-{salt}` in the partition `R2`
/// (`Microsoft.Azure.WebJobs.Logging`, `RecentPerFuncEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogs202402",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("R2")]
#[row_key(host, "-", function, "-0", desc(start_time), "-", salt)]
struct RecentRun {
    #[without('-')]
    host: String,
    #[without('-')]
    function: String,
    #[property(also)]
    start_time: DateTime<Utc>,
    #[unpadded]
    salt: i32,
    function_name: String,
}

#[test]
fn the_runs_of_azure_functions() {
    let of = |at: &str, salt| RecentRun {
        host: "shop".to_owned(),
        function: "onorder".to_owned(),
        start_time: instant(at),
        salt,
        function_name: "OnOrder".to_owned(),
    };
    let run = of("2024-02-28T09:05:07Z", -94);
    both_ways(&run, ("R2", "shop-onorder-02516931896929999999--94"));
    block_on(async {
        let runs = Engine::in_memory().table::<RecentRun>().create_if_missing().await.unwrap();
        for (at, salt) in
            [("2024-02-28T09:05:07Z", 7), ("2024-02-28T09:05:00Z", 7), ("2024-02-28T10:00:00Z", -1)]
        {
            runs.insert(&of(at, salt)).await.unwrap();
        }
        let of_function = || RecentRun::rows().host_is("shop").function_is("onorder");
        let newest = runs.query(of_function()).top(1).page().await.unwrap();
        assert_eq!(newest.items[0].salt, -1);
        let minute = instant("2024-02-28T09:05:00Z")..instant("2024-02-28T09:06:00Z");
        let query = runs.query(of_function().start_time(minute));
        assert_eq!(query.plan().unwrap().class, QueryClass::Range);
        let found = query.collect().await.unwrap();
        assert_eq!(found, [of("2024-02-28T09:05:07Z", 7), of("2024-02-28T09:05:00Z", 7)]);
    });
}

/// Events of `Serilog.Sinks.AzureTableStorage`: both keys are ticks counted down, the partition's those of the nearest five minutes
/// (`DefaultKeyGenerator`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "LogEventEntity", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key(desc(period))]
#[row_key(desc(at))]
struct LogEvent {
    period: DateTime<Utc>,
    at: DateTime<Utc>,
    level: String,
}

#[test]
fn the_events_of_serilog() {
    let of = |period: &str, at: &str| LogEvent {
        period: instant(period),
        at: instant(at),
        level: "Warning".to_owned(),
    };
    let event = of("2024-02-28T09:05:00Z", "2024-02-28T09:05:07Z");
    both_ways(&event, ("2516931896999999999", "2516931896929999999"));
    block_on(async {
        let events = Engine::in_memory().table::<LogEvent>().create_if_missing().await.unwrap();
        let late = of("2024-02-28T10:00:00Z", "2024-02-28T10:00:00Z");
        for event in [&event, &late] {
            events.insert(event).await.unwrap();
        }
        let day = instant("2024-02-28T00:00:00Z")..instant("2024-02-29T00:00:00Z");
        let newest_first = events.query(LogEvent::partitions_by_period(day)).collect().await.unwrap();
        assert_eq!(newest_first, [late, event.clone()]);
        let morning = instant("2024-02-28T09:00:00Z")..instant("2024-02-28T09:30:00Z");
        assert_eq!(events.query(LogEvent::partitions_by_period(morning)).collect().await.unwrap(), [event]);
    });
}

/// Events of `NLog.Extensions.AzureTableStorage`: a partition for each logger, `{ticks:d19}_{guid:N}` counted down.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "NLogEvents")]
#[partition_key(logger)]
#[row_key(desc(at), "_", guid(simple, id))]
struct LoggerEvent {
    logger: String,
    at: DateTime<Utc>,
    id: Uuid,
    message: String,
}

#[test]
fn the_events_of_nlog() {
    let of = |at: &str, id| LoggerEvent {
        logger: "Shop.Orders".to_owned(),
        at: instant(at),
        id: Uuid::from_u128(id),
        message: "placed".to_owned(),
    };
    let event = of("2024-02-28T09:05:07Z", 0xABC);
    both_ways(&event, ("Shop.Orders", "2516931896929999999_00000000000000000000000000000abc"));
    block_on(async {
        let events = Engine::in_memory().table::<LoggerEvent>().create_if_missing().await.unwrap();
        for (at, id) in
            [("2024-02-28T09:05:07Z", 0xABC), ("2024-02-28T09:05:07Z", 0xABD), ("2024-02-28T10:00:00Z", 1)]
        {
            events.insert(&of(at, id)).await.unwrap();
        }
        let two = events.query(LoggerEvent::rows("Shop.Orders")).top(2).page().await.unwrap();
        assert_eq!(two.items.iter().map(|event| event.id.as_u128()).collect::<Vec<_>>(), [1, 0xABC]);
        let same = events.query(LoggerEvent::rows("Shop.Orders").at_is(event.at)).collect().await.unwrap();
        assert_eq!(same.len(), 2);
    });
}

/// Errors of the `NuGet` gallery (its log for ELMAH): one partition without a name, ticks counted down.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ElmahErrors", allow(hot_partition, reason = "the layout of another program"))]
#[partition_key("")]
#[row_key(desc(at))]
struct ElmahError {
    at: DateTime<Utc>,
    serialized_error: String,
}

#[test]
fn the_errors_of_a_gallery() {
    let of = |at: &str| ElmahError { at: instant(at), serialized_error: "<error/>".to_owned() };
    both_ways(&of("2024-02-28T09:05:07Z"), ("", "2516931896929999999"));
    block_on(async {
        let errors = Engine::in_memory().table::<ElmahError>().create_if_missing().await.unwrap();
        for at in ["2024-02-28T09:05:07Z", "2024-02-28T10:00:00Z", "2024-02-28T09:05:00Z"] {
            errors.insert(&of(at)).await.unwrap();
        }
        let page = errors.query(ElmahError::rows()).top(2).page().await.unwrap();
        let newest: Vec<_> = page.items.iter().map(|error| error.value().clone()).collect();
        assert_eq!(newest, [of("2024-02-28T10:00:00Z"), of("2024-02-28T09:05:07Z")]);
        assert_eq!(
            errors
                .query(ElmahError::rows().at(instant("2024-02-28T09:30:00Z")..))
                .collect()
                .await
                .unwrap()
                .len(),
            1
        );
    });
}

/// A stream of `Streamstone`: the head, the events, and a row for each identifier of an event that must not be written twice.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-HEAD")]
struct StreamHead {
    stream: String,
    version: i32,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-SE-", digits(10, version))]
struct StreamEvent {
    stream: String,
    #[property(also)]
    version: u32,
    data: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Streams")]
#[partition_key(stream)]
#[row_key("SS-UID-", id)]
struct StreamEventId {
    stream: String,
    id: Uuid,
    version: i32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum StreamRow {
    Head(StreamHead),
    Event(StreamEvent),
    Id(StreamEventId),
    #[other]
    Other(TableEntity),
}

#[test]
fn a_stream_is_appended_to_with_its_head_and_its_identifiers() {
    let stream = || "account-1".to_owned();
    let head = |version| StreamHead { stream: stream(), version };
    let event = |version, data: &str| {
        StreamRow::Event(StreamEvent { stream: stream(), version, data: data.to_owned() })
    };
    let id =
        |id, version| StreamRow::Id(StreamEventId { stream: stream(), id: Uuid::from_u128(id), version });
    let key = |row: &StreamRow| row.entity_key().unwrap().row_key.as_str().to_owned();
    assert_eq!(key(&StreamRow::Head(head(2))), "SS-HEAD");
    assert_eq!(key(&event(2, "")), "SS-SE-0000000002");
    assert_eq!(key(&id(7, 2)), "SS-UID-00000000-0000-0000-0000-000000000007");
    block_on(async {
        let rows = Engine::in_memory().set::<StreamRow>().create_if_missing().await.unwrap();
        let heads = rows.store().table::<StreamHead>();
        let append = async |head: StreamHead, etag: Option<table_core::ETag>, id: StreamRow| {
            let mut append = rows.transaction(&id).unwrap();
            match etag {
                Some(etag) => append.replace(&head, etag).unwrap(),
                None => append.insert(&head).unwrap(),
            };
            append.insert(&event(head.version.unsigned_abs(), "deposited")).unwrap().insert(&id).unwrap();
            append.commit().await
        };
        append(head(1), None, id(1, 1)).await.unwrap();
        let read = heads.get(StreamHead::key("account-1")).await.unwrap().unwrap();
        append(head(2), Some(read.etag().clone()), id(2, 2)).await.unwrap();

        // Of two who append to one version one loses, and an event is not written twice.
        let behind = append(head(2), Some(read.etag().clone()), id(3, 2)).await.unwrap_err();
        assert_eq!(behind.code(), ErrorCode::UpdateConditionNotSatisfied);
        let read = heads.get(StreamHead::key("account-1")).await.unwrap().unwrap();
        let twice = append(head(3), Some(read.etag().clone()), id(1, 3)).await.unwrap_err();
        assert_eq!((twice.code(), twice.operation()), (ErrorCode::EntityAlreadyExists, Some(2)));

        let all =
            heads.query(StreamHead::partition("account-1")).read_as::<StreamRow>().collect().await.unwrap();
        let expected =
            [StreamRow::Head(head(2)), event(1, "deposited"), event(2, "deposited"), id(1, 1), id(2, 2)];
        assert_eq!(all, expected);
        let events = rows.store().table::<StreamEvent>();
        let later = events.query(StreamEvent::rows("account-1").version(2..)).collect().await.unwrap();
        assert_eq!(later.len(), 1);
    });
}

/// Users of `ElCamino.AspNetCore.Identity.AzureTable`: the user and what belongs to the user in one partition, distinguished by the first letter, and
/// an index by the hash of the normalised address (`SHA256KeyHelper`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AspNetUsers")]
#[partition_key("U_", user)]
#[row_key("U_", user)]
struct User {
    user: String,
    normalized_email: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AspNetUsers")]
#[partition_key("U_", user)]
#[row_key("R_", hash(sha256, 64, role_name))]
struct UserRole {
    user: String,
    role_name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "AspNetIndex")]
#[partition_key("E_", hash(sha256, 64, normalized_email))]
#[row_key("U_", user)]
struct EmailOfUser {
    normalized_email: String,
    user: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum UserRow {
    User(User),
    Role(UserRole),
    #[other]
    Other(TableEntity),
}

#[test]
fn the_users_of_an_identity_store() {
    let user = || "3f1c".to_owned();
    let ada = User { user: user(), normalized_email: "ADA@CONTOSO.COM".to_owned() };
    let role = UserRole { user: user(), role_name: "ADA@CONTOSO.COM".to_owned() };
    let email = EmailOfUser { normalized_email: "ADA@CONTOSO.COM".to_owned(), user: user() };
    let hash = "34ee195b6db103bb37132929bc826ac603f0f76c2ff2fff94de9683a70cd51b1";
    both_ways(&ada, ("U_3f1c", "U_3f1c"));
    both_ways(&role, ("U_3f1c", &format!("R_{hash}")));
    both_ways(&email, (&format!("E_{hash}"), "U_3f1c"));
    block_on(async {
        let rows = Engine::in_memory().set::<UserRow>().create_if_missing().await.unwrap();
        let mut written = rows.transaction(&UserRow::User(ada.clone())).unwrap();
        let claim = TableEntity::new("U_3f1c", format!("C_{hash}")).unwrap();
        written.insert(&ada).unwrap().insert(&role).unwrap().insert(&claim).unwrap();
        written.commit().await.unwrap();
        let users = rows.store().table::<User>();
        let found = users.query(User::partition("3f1c")).read_as::<UserRow>().collect().await.unwrap();
        let [UserRow::Other(_), UserRow::Role(found_role), UserRow::User(found)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((found_role, found), (&role, &ada));
        let emails = rows.store().table::<EmailOfUser>().create_if_missing().await.unwrap();
        emails.insert(&email).await.unwrap();
        let by_email = emails.query(EmailOfUser::partition("ADA@CONTOSO.COM")).collect().await.unwrap();
        assert_eq!(by_email, [email]);
    });
}

/// State of an orchestration: the instance's identifier, escaped by `^`, and no `RowKey` (`DurableTask.AzureStorage`, the table `Instances`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "TestHubInstances")]
#[partition_key(caret(instance))]
#[row_key("")]
struct Instance {
    instance: String,
    runtime_status: String,
}

#[test]
fn the_instances_of_orchestrations() {
    let of =
        |instance: &str| Instance { instance: instance.to_owned(), runtime_status: "Running".to_owned() };
    both_ways(&of("order/7"), ("order^07", ""));
    block_on(async {
        let instances = Engine::in_memory().table::<Instance>().create_if_missing().await.unwrap();
        for instance in ["order/7", "order/8", "refund/7"] {
            instances.insert(&of(instance)).await.unwrap();
        }
        let orders =
            instances.query(Instance::partitions_by_instance_prefix("order/")).collect().await.unwrap();
        assert_eq!(orders, [of("order/7"), of("order/8")]);
    });
}
