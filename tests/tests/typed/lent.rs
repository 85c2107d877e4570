//! Tests entities that a reader lends to its caller. Each entity overwrites the previous one in memory. It must equal the entity that a separate read returns.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use chrono::{DateTime, Utc};
use pollster::block_on;
use proptest::prelude::*;
use table_core::query::EntityRef;
use table_core::row::RowWriter;
use table_core::{Engine, Entity, FromEntity, Result, TableStoreExt, Value};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Samples", kind = "Sample")]
#[partition_key(site)]
#[row_key("sample_", number, "_", device)]
struct Sample {
    site: String,
    #[digits(3)]
    number: u32,
    device: String,
    name: String,
    note: Option<String>,
    data: Vec<u8>,
    more: Option<Vec<u8>>,
    count: i64,
    level: Option<i32>,
    small: u8,
    valid: bool,
    at: DateTime<Utc>,
}

impl Sample {
    fn of(number: u32, text: &str) -> Self {
        Self {
            site: format!("site {}", text.len() % 2),
            number,
            device: text.to_owned(),
            name: text.repeat(3),
            note: number.is_multiple_of(2).then(|| text.to_owned()),
            data: text.as_bytes().to_vec(),
            more: number.is_multiple_of(3).then(|| text.repeat(2).into_bytes()),
            count: i64::from(number) - 5,
            level: (number > 4).then_some(-7),
            small: 7,
            valid: number == 7,
            at: DateTime::from_timestamp(i64::from(number), 700).unwrap(),
        }
    }
}

/// A stored row. It may or may not be decodable as a `Sample`.
#[derive(Clone, Debug)]
struct Stored {
    keys: (String, String),
    properties: Vec<(String, Value)>,
}

impl Stored {
    /// Encodes a sample as a row. Removes some properties, replaces some, and changes the order of the properties.
    fn of(sample: &Sample, lacks: &[usize], others: &[(usize, Value)], turned: usize) -> Self {
        let key = sample.key_of().unwrap();
        let row = sample.to_row().unwrap();
        let read = row.view().properties().map(|property| property.unwrap());
        let mut properties: Vec<_> =
            read.map(|property| (property.name.to_owned(), Value::from(property.value))).collect();
        for (place, other) in others {
            let place = place % properties.len();
            properties[place].1 = other.clone();
        }
        let turned = turned % properties.len();
        properties.rotate_left(turned);
        let mut place = 0;
        properties.retain(|_| {
            place += 1;
            !lacks.contains(&(place - 1))
        });
        Self { keys: (key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned()), properties }
    }

    fn with<R>(&self, read: impl FnOnce(EntityRef<'_>) -> R) -> R {
        let mut row = RowWriter::new();
        for (name, value) in &self.properties {
            row.property(name, value.as_ref());
        }
        read(EntityRef::new(&self.keys.0, &self.keys.1, row.finish().view()))
    }
}

fn stored() -> impl Strategy<Value = Stored> {
    let other = prop_oneof![
        (0..9).prop_map(Value::Int32),
        Just(Value::Int64(1 << 40)),
        "[a-z]{0,9}".prop_map(Value::String),
        Just(Value::Boolean(true)),
    ];
    let sample = (0..9_u32, "[a-z]{1,20}").prop_map(|(number, text)| Sample::of(number, &text));
    let few = prop_oneof![3 => 0..=0_usize, 1 => 1..=2_usize];
    let others =
        few.clone().prop_flat_map(move |count| prop::collection::vec((0..9_usize, other.clone()), count));
    let lacks = few.clone().prop_flat_map(|count| prop::collection::vec(0..9_usize, count));
    let key = prop_oneof![9 => Just(None), 1 => Just(Some("sample_1")), 1 => Just(Some("other"))];
    (sample, lacks, others, few, key).prop_map(|(sample, lacks, others, turned, key)| {
        let mut stored = Stored::of(&sample, &lacks, &others, turned);
        if let Some(key) = key {
            key.clone_into(&mut stored.keys.1);
        }
        stored
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn reading_over_another_entity_equals_a_fresh_read(rows in prop::collection::vec(stored(), 1..9)) {
        let (mut place, mut partition) = (Sample::of(1, "before"), None);
        for row in rows {
            let is_same = partition.replace(row.keys.0.clone()).as_ref() == Some(&row.keys.0);
            let (fresh, again) = row.with(|entity| (Sample::from_entity(entity), place.read_again(entity, is_same)));
            if again.is_err() {
                partition = None;
            }
            match again {
                Ok(()) => prop_assert_eq!(&place, &fresh.unwrap()),
                Err(error) => prop_assert_eq!(format!("{error:?}"), format!("{:?}", fresh.unwrap_err())),
            }
        }
    }
}

#[test]
fn rows_of_another_shape_are_read_over_others() {
    let sample = Sample::of(8, "abc");
    let mut place = Sample::of(1, "before");
    // The properties are in a different order, and the numbers were stored by a writer without type annotations (ENG-12).
    let turned = Stored::of(&sample, &[], &[(4, Value::Int32(3))], 2);
    turned.with(|entity| place.read_again(entity, false)).unwrap();
    assert_eq!(place, sample);
    let lacking = Stored::of(&sample, &[1], &[], 0);
    let error = lacking.with(|entity| place.read_again(entity, false)).unwrap_err();
    assert!(error.to_string().contains("property `Name`"), "{error}");
    // A failed read does not affect the next one.
    Stored::of(&Sample::of(5, "x"), &[], &[], 0).with(|entity| place.read_again(entity, false)).unwrap();
    assert_eq!(place, Sample::of(5, "x"));
}

#[test]
fn a_lent_entity_has_its_own_values_and_reuses_the_previous_allocation() -> Result<()> {
    block_on(async {
        let table = Engine::in_memory().table::<Sample>().create_if_missing().await?;
        let of = |site: &str, number| Sample { site: site.to_owned(), ..Sample::of(number, "text") };
        let samples: Vec<_> = ["A", "B"].iter().flat_map(|site| (0..9).map(|n| of(site, n))).collect();
        table.bulk().insert_all(samples.clone()).await.unwrap();
        let query = || table.query(Sample::partition("A"));
        let (mut lent, mut memory) = (Vec::new(), Vec::new());
        query()
            .for_each(|sample| {
                lent.push(sample.clone());
                memory.push((sample.site.as_ptr(), sample.name.as_ptr(), sample.data.as_ptr()));
            })
            .await?;
        assert_eq!(lent, query().collect_versioned().await?);
        assert!(memory.iter().all(|place| *place == memory[0]), "{memory:?}");
        let mut scanned = Vec::new();
        table.scan("a test").max_rows(18).for_each(|sample| scanned.push(sample.value().clone())).await?;
        assert_eq!(scanned, samples);
        Ok(())
    })
}
