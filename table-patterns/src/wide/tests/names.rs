//! Tests property names in parts: thousands of slots, and duplicate names.

use super::*;
use crate::wide::check::{check_names, check_parts};

/// A declaration with so many slots that the compiler could not compare each pair of their names.
#[derive(Wide, Clone, Debug, PartialEq)]
#[entity(table = "Samples")]
#[partition_key(device)]
#[row_key(day)]
struct Samples {
    device: u32,
    day: u16,
    note: Option<String>,
    #[slots("S", 1..=2000)]
    values: Vec<Option<i32>>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Tests that patches may contain slots in any order.
    #[test]
    fn pat_wide_1_two_thousand_slots_are_written_and_read(
        patches in prop::collection::vec(prop::collection::hash_map(1_usize..=2000, any::<i32>(), 1..40), 1..4),
    ) {
        let table = block_on(Engine::in_memory().wide::<Samples>().create_if_missing()).unwrap();
        let mut model = Samples { device: 1, day: 7, note: Some("new".into()), values: vec![None; 2000] };
        block_on(table.insert(&model)).unwrap();
        for slots in patches {
            let mut patch = table.patch(Samples::key(1, 7));
            for (slot, value) in slots {
                patch = patch.set(Samples::VALUES.at(slot), value);
                model.values[slot - 1] = Some(value);
            }
            block_on(patch.send()).unwrap();
            prop_assert_eq!(&block_on(table.get(Samples::key(1, 7))).unwrap().unwrap().0, &model);
        }
    }
}

/// An entity with a key field that is also stored as a property, because the value of the field cannot be computed from the bucket in the key.
#[derive(Entity, Clone)]
#[entity(table = "Counted", kind = "Counted")]
#[partition_key("bucket_", bucket(day1, 4))]
#[row_key("counts")]
struct Bucketed {
    day1: u32,
}

/// A manual implementation whose first part has 253 properties: 250 slots, the key field, the entity kind and the `WriteId`.
struct Full;

impl Wide for Full {
    type Header = Bucketed;
    const PARTS: &'static [&'static [&'static str]] = &[slot_names!("Slot", 1, 250)];

    fn header(&self) -> Bucketed {
        Bucketed { day1: 1 }
    }

    fn write(&self, _: &mut WideWriter) -> Result<()> {
        Ok(())
    }

    fn read(_: Bucketed, _: &WideReader<'_>) -> Result<Self> {
        Ok(Self)
    }
}

/// Returns the panic message of a check that refuses a declaration. Returns an empty string if the check accepts the declaration.
fn refusal(check: fn()) -> String {
    let refused = std::panic::catch_unwind(check).err();
    refused
        .and_then(|message| message.downcast_ref().map(|text: &&str| (*text).to_owned()))
        .unwrap_or_default()
}

#[test]
fn pat_wide_1_all_properties_of_the_first_part_are_counted_and_compared() {
    let refused: [(fn(), &str); 4] = [
        (check_parts::<Full>, "at most 251 properties"),
        (|| check_names(&[&["Office"], slot_names!("Day", 1, 9)], Bucketed::SCHEMA), "of its header"),
        (|| check_names(&[&["Office"], &["EntityType"]], Bucketed::SCHEMA), "`EntityType`"),
        (|| check_names(&[&["Office"], &["WriteId"]], Bucketed::SCHEMA), "`WriteId`"),
    ];
    let accepted = refused.into_iter().filter(|(check, expected)| !refusal(*check).contains(expected));
    assert_eq!(accepted.map(|(_, expected)| expected).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn pat_wide_1_names_are_compared_within_and_between_parts_in_any_order() {
    const LONG: &[&[&str]] = &[
        slot_names!("S", 1, 251),
        slot_names!("S", 252, 251),
        slot_names!("S", 503, 251),
        slot_names!("S", 754, 246),
        slot_names!("T", 1, 251),
        slot_names!("T", 252, 251),
        slot_names!("R", 1, 251),
        slot_names!("R", 252, 251),
    ];
    const { check_names(LONG, YearOfCountsKey::SCHEMA) };
    let distinct: [&[&[&str]]; 4] =
        [&[], &[&["a", "c"], &["b"]], &[&["b", "a"], &["d", "c"]], &[&["a", "b"], &[], &["A", "aa"]]];
    for parts in distinct {
        check_names(parts, YearOfCountsKey::SCHEMA);
    }
    let twice: [&[&[&str]]; 5] = [
        &[&["a", "a"]],
        &[&["b", "a", "b"]],
        &[&["a", "c"], &["b", "c"]],
        &[&["a", "c"], &["b"], &["a"]],
        &[&["c", "a"], &["b"], &["a"]],
    ];
    for parts in twice {
        let refused = std::panic::catch_unwind(|| check_names(parts, YearOfCountsKey::SCHEMA));
        assert!(refused.is_err(), "{parts:?}");
    }
}
