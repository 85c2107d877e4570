//! Tests derived selections against a model. A selection must read exactly the keys whose parts have the requested values.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::{Bound, RangeBounds};

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use table_core::query::{EntityRef, QueryClass};
use table_core::selection::{Class, IntoSelection};
use table_core::{Entity, ErrorCode, FromEntity, KeyPart, Selection};

#[derive(Clone, Copy, Debug, KeyPart, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[key_part("a-draft")]
    Draft,
    #[key_part("final")]
    Final,
}

#[derive(Clone, Copy, Debug, KeyPart, PartialEq, Eq, PartialOrd, Ord)]
#[digits(4)]
struct Number(u16);

/// An entry whose row key has every kind of ordered part. These are a part of fixed length, a descending one, a string terminated by `!`, an enum terminated by
/// a space, and a string at the end.
#[derive(Clone, Debug, Entity, PartialEq)]
#[partition_key(number, "_", tenant)]
#[row_key("v1_", delta, desc(at), escaped(name), "!", stage, " ", note)]
struct Entry {
    number: Number,
    tenant: String,
    delta: i16,
    at: DateTime<Utc>,
    name: String,
    stage: Stage,
    note: String,
    #[property(json)]
    tags: Vec<String>,
}

/// A login. Its partition key contains two bucket numbers, computed from a part of the row key and from a property.
#[derive(Clone, Debug, Entity, PartialEq)]
#[partition_key("day_", bucket(user, 8), "_", bucket(shard, 3))]
#[row_key(user, "_", user_of)]
struct Login {
    user: u32,
    user_of: String,
    shard: u32,
}

fn reads<E, C: Class>(selection: impl IntoSelection<E, C>, entity: &impl Entity) -> bool {
    let (selection, key) = (selection.into_selection(), entity.key_of().unwrap());
    let within = |range: &table_core::query::KeyRange| {
        range.contains(key.partition_key.as_str(), key.row_key.as_str())
    };
    match selection.ranges() {
        Ok(ranges) => ranges.iter().any(within),
        // A range whose start is after its end is rejected, and nothing is read.
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
            false
        }
    }
}

fn entry() -> impl Strategy<Value = Entry> {
    let at =
        (0_i64..4, 0_u32..3).prop_map(|(s, n)| DateTime::from_timestamp(1_400_000_000 + s, n * 100).unwrap());
    let stage = prop_oneof![Just(Stage::Draft), Just(Stage::Final)];
    let number = (0_u16..3).prop_map(Number);
    (
        number,
        "[ab]",
        -2_i16..3,
        at,
        "[ -~é]{0,2}",
        stage,
        "[a-c!]{0,2}",
        proptest::collection::vec(".{0,3}", 0..3),
    )
        .prop_map(|(number, tenant, delta, at, name, stage, note, tags)| Entry {
            number,
            tenant,
            delta,
            at,
            name,
            stage,
            note,
            tags,
        })
}

fn bounds<T: Clone>(a: &T, b: &T, kinds: (u8, u8)) -> (Bound<T>, Bound<T>) {
    let bound = |value: &T, kind| match kind {
        0 => Bound::Included(value.clone()),
        1 => Bound::Excluded(value.clone()),
        _ => Bound::Unbounded,
    };
    (bound(a, kinds.0), bound(b, kinds.1))
}

fn read_back<E: Entity>(entity: &E) -> E {
    let (key, row) = (entity.key_of().unwrap(), entity.to_row().unwrap());
    E::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn k1_an_entity_is_read_as_it_was_written(entry in entry()) {
        prop_assert_eq!(read_back(&entry), entry);
    }

    #[test]
    fn k3_a_range_reads_the_values_within_it_at_every_part(
        a in entry(), b in entry(), e in entry(), kinds in (0_u8..3, 0_u8..3),
    ) {
        let Entry { number, tenant, delta, at, name, stage, note, .. } = e.clone();
        let rows = || Entry::rows(number, &tenant);
        let range = bounds(&a.delta, &b.delta, kinds);
        prop_assert_eq!(reads(rows().delta(range), &e), range.contains(&delta));
        let rows = || Entry::rows(number, &tenant).delta_is(delta);
        let range = bounds(&a.at, &b.at, kinds);
        prop_assert_eq!(reads(rows().at(range), &e), range.contains(&at));
        let rows = || Entry::rows(number, &tenant).delta_is(delta).at_is(at);
        let range = bounds(&a.name, &b.name, kinds);
        prop_assert_eq!(reads(rows().name(range.clone()), &e), range.contains(&name));
        prop_assert_eq!(reads(rows().name_prefix(&a.name), &e), name.starts_with(&a.name));
        let rows = || Entry::rows(number, &tenant).delta_is(delta).at_is(at).name_is(&name);
        let range = bounds(&a.stage, &b.stage, kinds);
        prop_assert_eq!(reads(rows().stage(range), &e), range.contains(&stage));
        let rows = || Entry::rows(number, &tenant).delta_is(delta).at_is(at).name_is(&name).stage_is(stage);
        let range = bounds(&a.note, &b.note, kinds);
        prop_assert_eq!(reads(rows().note(range.clone()), &e), range.contains(&note));
        prop_assert_eq!(reads(rows().note_is(&a.note), &e), a.note == note);
    }

    #[test]
    fn k2_a_key_reads_only_its_entity(a in entry(), b in entry()) {
        let key = Entry::key(a.number, &a.tenant, a.delta, a.at, &a.name, a.stage, &a.note);
        let same = Entry { tags: b.tags.clone(), ..a.clone() } == b;
        prop_assert!(reads(key.clone(), &a));
        prop_assert_eq!(reads(key, &b), same);
    }

    #[test]
    fn a_spread_entity_is_found_in_its_bucket_and_in_all(user in 0_u32..50, shard in 0_u32..50, user_of in "[a-c]{0,2}") {
        let login = Login { user, user_of, shard };
        prop_assert_eq!(read_back(&login), login.clone());
        prop_assert!(reads(Login::key(shard, user, &login.user_of), &login));
        prop_assert!(reads(Login::partition_of(user, shard), &login));
        prop_assert!(reads(Login::all_partitions(), &login));
        prop_assert!(reads(Login::rows().user_is(user), &login));
        prop_assert!(reads(Login::rows().user_is(user).user_of_is(&login.user_of), &login));
        prop_assert!(!reads(Login::rows().user(..user), &login));
    }
}

#[test]
fn classes_are_in_the_types() {
    let class = |selection: Selection<Entry, table_core::selection::RowRange>| selection.class();
    assert_eq!(class(Entry::rows(Number(1), "a").into()), QueryClass::Range);
    assert_eq!(Entry::partition(Number(1), "a").class(), QueryClass::PartitionScan);
    assert_eq!(Entry::scan("test").class(), QueryClass::TableScan);
    assert_eq!(Login::all_partitions().class(), QueryClass::FanOut(24));
    let rows: Selection<Login, table_core::selection::FanOut> = Login::rows().into();
    assert_eq!((rows.class(), rows.ranges().unwrap().len()), (QueryClass::FanOut(24), 24));
}

#[test]
fn an_entity_in_the_wrong_bucket_is_refused() {
    let login = Login { user: 7, user_of: String::new(), shard: 1 };
    let (key, row) = (login.key_of().unwrap(), login.to_row().unwrap());
    let other = if key.partition_key.as_str().starts_with("day_0") { "day_1_0" } else { "day_0_0" };
    let error = Login::from_entity(EntityRef::new(other, key.row_key.as_str(), row.view())).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EntityMismatch);
}

#[test]
fn a_value_without_a_text_is_an_error_where_the_selection_is_used() {
    let error = Entry::partition(Number(10_000), "a").ranges().unwrap_err();
    assert_eq!(error.code(), ErrorCode::KeyEncoding);
    assert!(error.to_string().contains("`number`"), "{error}");
}
