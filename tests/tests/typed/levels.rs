//! Tests hierarchical partition keys. The laws of codecs, prefixes and ranges are compared with a model. Such keys are also used in stores (HPK rules).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use pollster::block_on;
use proptest::prelude::*;
use table_core::query::{EntityRef, KeyRange, QueryClass};
use table_core::selection::{Class, IntoSelection, Partition, PartitionRange, Point};
use table_core::{Engine, Entity, ErrorCode, KeyPart, Selection, Table, TableStore, TableStoreExt};
use tests::model::ModelStore;

/// An event whose partition key has three levels. Each level can be any string.
#[derive(Clone, Debug, Entity, PartialEq)]
#[partition_key(tenant, user, session)]
#[row_key(id)]
struct Event {
    tenant: String,
    user: String,
    session: String,
    #[digits(3)]
    id: u32,
    kind: String,
}

#[derive(Clone, Debug, KeyPart, PartialEq)]
struct Region(String);

/// A reading whose levels have different types. They are a newtype of a string, a number, and a time in descending order.
#[derive(Clone, Debug, Entity, PartialEq)]
#[partition_key(region, meter, desc(day))]
#[row_key("")]
struct Reading {
    region: Region,
    meter: i16,
    #[digits(2)]
    day: u8,
    value: i32,
}

fn awkward() -> impl Strategy<Value = String> {
    const TEXTS: [&str; 20] = [
        "",
        "!",
        "\"",
        "!!",
        "\"x",
        "Micro",
        "Microsoft",
        "Microsoft2",
        "Micro!",
        "Micro\"",
        "a/b",
        "a\\b#c?",
        "\u{1}",
        "\u{7F}",
        "é",
        "\u{D7FF}",
        "\u{FF21}",
        "\u{FFFF}",
        "\u{1F600}",
        "\u{10FFFF}",
    ];
    prop_oneof![3 => prop::sample::select(TEXTS.to_vec()).prop_map(str::to_owned), 1 => ".{0,4}", 1 => "[ !\"#a]{0,3}"]
}

fn event() -> impl Strategy<Value = Event> {
    (awkward(), awkward(), awkward(), 0_u32..1_000).prop_map(|(tenant, user, session, id)| Event {
        tenant,
        user,
        session,
        id,
        kind: "click".to_owned(),
    })
}

fn reading() -> impl Strategy<Value = Reading> {
    (awkward(), -3_i16..3, 0_u8..4).prop_map(|(region, meter, day)| Reading {
        region: Region(region),
        meter,
        day,
        value: 1,
    })
}

fn reads<E, C: Class>(selection: impl IntoSelection<E, C>, entity: &impl Entity) -> bool {
    let (selection, key) = (selection.into_selection(), entity.key_of().unwrap());
    let within = |range: &KeyRange| range.contains(key.partition_key.as_str(), key.row_key.as_str());
    match selection.ranges() {
        Ok(ranges) => ranges.iter().any(within),
        // A range whose start is after its end is rejected, and nothing is read.
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
            false
        }
    }
}

fn read_back<E: Entity>(entity: &E) -> E {
    let (key, row) = (entity.key_of().unwrap(), entity.to_row().unwrap());
    E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view())).unwrap()
}

fn utf16(texts: [&str; 3]) -> [Vec<u16>; 3] {
    texts.map(|text| text.encode_utf16().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Tests that all levels can be read back, and that the complete key is computed from the entity (HPK-34).
    #[test]
    fn k1_and_k4_levels_are_read_as_they_were_written(event in event(), reading in reading()) {
        prop_assert_eq!(event.key_of().unwrap().partition_key.as_str().matches('!').count(), 3);
        prop_assert_eq!(read_back(&event), event);
        prop_assert_eq!(read_back(&reading), reading);
    }

    #[test]
    fn k2_and_k3_partitions_are_ordered_as_their_levels(a in event(), b in event()) {
        let key = |event: &Event| event.key_of().unwrap().partition_key;
        let levels = |event: &Event| utf16([&event.tenant, &event.user, &event.session]);
        prop_assert_eq!(key(&a).cmp(&key(&b)), levels(&a).cmp(&levels(&b)));
    }

    #[test]
    fn hpk_5_a_prefix_reads_exactly_the_keys_with_its_levels(a in event(), b in event()) {
        let within = Event::within(&a.tenant);
        prop_assert_eq!(reads(within.clone(), &b), a.tenant == b.tenant);
        let within = within.user_is(&a.user);
        prop_assert_eq!(reads(within.clone(), &b), (&a.tenant, &a.user) == (&b.tenant, &b.user));
        let all = (&a.tenant, &a.user, &a.session) == (&b.tenant, &b.user, &b.session);
        prop_assert_eq!(reads(within.session_is(&a.session), &b), all);
        prop_assert_eq!(reads(Event::partition(&a.tenant, &a.user, &a.session), &b), all);
        prop_assert_eq!(reads(Event::key(&a.tenant, &a.user, &a.session, a.id), &b), all && a.id == b.id);
    }

    #[test]
    fn k3_a_range_over_the_next_level_reads_the_values_within_it(a in event(), b in event(), e in event()) {
        let [low, high, user] = utf16([&a.user, &b.user, &e.user]);
        let within = || Event::within(&e.tenant);
        prop_assert_eq!(reads(within().user(a.user.clone()..b.user.clone()), &e), low <= user && user < high);
        prop_assert_eq!(reads(within().user(a.user.clone()..=b.user.clone()), &e), low <= user && user <= high);
        prop_assert_eq!(reads(within().user_prefix(&a.user), &e), e.user.starts_with(&a.user));
        let [low, high, session] = utf16([&a.session, &b.session, &e.session]);
        let within = || Event::within(&e.tenant).user_is(&e.user);
        prop_assert_eq!(reads(within().session(a.session.clone()..b.session.clone()), &e), low <= session && session < high);
        prop_assert_eq!(reads(within().session_prefix(&a.session), &e), e.session.starts_with(&a.session));
    }

    #[test]
    fn k3_levels_of_fixed_width_have_ranges_too(a in reading(), b in reading(), e in reading()) {
        let within = || Reading::within(&e.region);
        prop_assert_eq!(reads(within().meter(a.meter..=b.meter), &e), (a.meter..=b.meter).contains(&e.meter));
        prop_assert_eq!(reads(within().meter_is(e.meter).day(a.day..b.day), &e), (a.day..b.day).contains(&e.day));
        prop_assert_eq!(reads(Reading::within(&a.region), &e), a.region == e.region);
    }
}

async fn pages_of_a_tenant(store: impl TableStore + Clone) {
    let names = ["", "!", "\"", "Micro", "Microsoft", "Microsoft!", "Microsoft2", "a/b", "é", "\u{1F600}"];
    let table: Table<Event, _> = store.table::<Event>().create_if_missing().await.unwrap();
    let mut all = Vec::new();
    for tenant in names {
        for (user, session, id) in
            [("u", "s", 1), ("u", "s", 2), ("u", "s2", 1), ("u2", "s", 1), ("!", "/", 1)]
        {
            let [tenant, user, session, kind] = [tenant, user, session, "click"].map(str::to_owned);
            all.push(Event { tenant, user, session, id, kind });
        }
    }
    for event in &all {
        table.insert(event).await.unwrap();
    }
    for tenant in names {
        let mut expected: Vec<Event> = all.iter().filter(|event| event.tenant == tenant).cloned().collect();
        expected.sort_by_key(|event| event.key_of().unwrap());
        for top in [1, 2, 1_000] {
            let query = table.query(Event::within(tenant)).page_size(top);
            let (mut found, mut page) = (Vec::new(), query.page().await.unwrap());
            loop {
                assert!(page.items.len() <= top);
                found.extend(page.items.into_iter().map(table_core::Versioned::into_value));
                let Some(next) = &page.continuation else { break };
                page = query.page_from(next).await.unwrap();
            }
            assert_eq!(found, expected, "{tenant:?} by {top}");
        }
        let user = table.query(Event::within(tenant).user_is("u")).collect().await.unwrap();
        assert_eq!(user.len(), 3, "{tenant:?}");
        let session =
            table.query(Event::within(tenant).user_is("u").session_is("s")).collect().await.unwrap();
        assert_eq!(session.len(), 2, "{tenant:?}");
        let users = table.query(Event::within(tenant).user("u".."u2")).collect().await.unwrap();
        assert_eq!(users, user, "{tenant:?}");
        assert!(table.get(Event::key(tenant, "!", "/", 1)).await.unwrap().is_some());
    }
}

#[test]
fn hpk_5_a_prefix_is_paged_on_the_engine() {
    block_on(pages_of_a_tenant(Engine::in_memory()));
}

#[test]
fn hpk_5_a_prefix_is_paged_on_the_model() {
    block_on(pages_of_a_tenant(std::sync::Arc::new(ModelStore::new())));
}

/// Tests that the given levels determine the class of a query, whatever the number of partitions is (HPK-39). A point query has all levels (HPK-36). They may
/// be given together or one by one (HPK-35). A prefix reads only the partitions that it covers (HPK-25, HPK-37).
#[test]
fn hpk_38_the_given_levels_decide_the_class() {
    let point: Selection<Event, Point> = Event::key("Microsoft", "ada", "1", 7);
    let one: Selection<Event, Partition> = Event::partition("Microsoft", "ada", "1");
    let by_levels: Selection<Event, Partition> = Event::within("Microsoft").user_is("ada").session_is("1");
    let user: Selection<Event, PartitionRange> = Event::within("Microsoft").user_is("ada").into();
    let tenant: Selection<Event, PartitionRange> = Event::within("Microsoft").into();
    assert_eq!(one.ranges().unwrap(), by_levels.ranges().unwrap());
    let whole = [QueryClass::PartitionScan; 2];
    assert_eq!((point.class(), [one.class(), by_levels.class()]), (QueryClass::Point, whole));
    assert_eq!([user.class(), tenant.class()], [QueryClass::PartitionRange; 2]);
    assert_eq!(Event::scan("a user of every tenant").class(), QueryClass::TableScan);

    let table = Engine::in_memory().table::<Event>();
    let plan = table.plan(tenant).unwrap().to_string();
    assert!(plan.starts_with("targeted cross-partition scan on Event"), "{plan}");
    let filter = "PartitionKey ge 'Microsoft!' and PartitionKey lt 'Microsoft\"'";
    assert!(plan.contains(filter), "{plan}");
}

#[test]
fn hpk_26_the_last_level_may_be_the_entity_itself() {
    block_on(async {
        let table = Engine::in_memory().table::<Reading>().create_if_missing().await.unwrap();
        let reading = |meter, day| Reading { region: Region("north!".to_owned()), meter, day, value: 7 };
        for (meter, day) in [(-1, 1), (7, 1), (7, 2)] {
            table.insert(&reading(meter, day)).await.unwrap();
        }
        let key = reading(7, 2).key_of().unwrap();
        assert_eq!((key.partition_key.as_str(), key.row_key.as_str()), ("north\"x!000007!97!", ""));
        let region = Region("north!".to_owned());
        assert_eq!(table.get(Reading::key(&region, 7, 2)).await.unwrap().as_deref(), Some(&reading(7, 2)));
        let found = table.query(Reading::within(&region).meter_is(7)).collect().await.unwrap();
        assert_eq!(found, [reading(7, 2), reading(7, 1)]); // desc(day)

        // Each entity is in a separate partition. A transaction therefore cannot contain two of them (LIM-10).
        let mut transaction = table.transaction(&reading(7, 1)).unwrap();
        let error = transaction.insert(&reading(7, 3)).unwrap_err();
        assert_eq!(error.rule(), Some("EGT-5"));
    });
}

#[test]
fn key_8_levels_that_are_too_long_together_are_refused() {
    let long = "a".repeat(400);
    let error = Event::key(&long, &long, &long, 1).key().unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::PropertyValueTooLarge, Some("KEY-8")));
    let event = Event { tenant: long.clone(), user: long.clone(), session: long, id: 1, kind: String::new() };
    assert_eq!(event.key_of().unwrap_err().rule(), Some("KEY-8"));
}

#[test]
fn a_level_without_a_text_is_an_error_where_the_selection_is_used() {
    let too_long = "/".repeat(300);
    let error = Event::within("contoso").user_is(too_long.as_str()).session("a"..).ranges().unwrap_err();
    assert_eq!(error.code(), ErrorCode::KeyEncoding);
    assert!(error.to_string().contains("`user`"), "{error}");
}
