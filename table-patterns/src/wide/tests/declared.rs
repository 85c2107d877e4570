//! Tests declarations of wide entities, and rows that a program with a different declaration has written.

use super::*;

/// Tests a declaration with different boundaries between its parts. Properties stored under the old declaration are found, and are then written into their new
/// parts.
#[test]
fn pat_wide_4_a_property_that_was_moved_to_another_part_is_found() {
    #[derive(Wide, Debug)]
    #[entity(table = "MessageCounts")]
    #[partition_key(employee)]
    #[row_key(year)]
    struct Moved {
        #[digits(6)]
        employee: u32,
        #[digits(4)]
        year: u16,
        office: Option<String>,
        #[slots("Day", 1..=183)]
        first: Vec<Option<i32>>,
        #[part(2)]
        #[slots("Day", 184..=366)]
        second: [Option<i32>; 183],
    }
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(1))).unwrap();
    let moved = store.wide::<Moved>();
    let key = || Moved::key(123, 2014);
    let (found, _) = block_on(moved.get(key())).unwrap().unwrap();
    assert_eq!((found.first, found.second), (vec![Some(1); 183], [Some(1); 183]));
    // The old part keeps its value. A program with the old declaration may change that value later.
    block_on(moved.set(key(), Moved::SECOND.at(200), 2)).unwrap();
    let error = block_on(moved.get(key())).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
    assert!(error.message().contains("parts 02 and 01") && error.to_string().contains("Day200"), "{error}");
    assert!(block_on(moved.resize(key(), 2)).unwrap());
    assert!(!block_on(moved.resize(key(), 2)).unwrap());
    let (found, version) = block_on(moved.get(key())).unwrap().unwrap();
    assert_eq!((found.first, found.second[16], found.second[17]), (vec![Some(1); 183], Some(2), Some(1)));
    let whole = Moved { first: vec![None; 183], second: [Some(3); 183], ..found };
    block_on(moved.replace(&whole, &version)).unwrap();
    let (found, _) = block_on(moved.get(key())).unwrap().unwrap();
    assert_eq!((found.office.as_deref(), found.first[0], found.second), (Some("Oslo"), None, [Some(3); 183]));
}

/// A declaration with the properties `a`, `b` and `c` in one part.
mod single {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
        pub employee: u32,
        pub year: u16,
        pub a: Option<i32>,
        pub b: Option<i32>,
        pub c: Option<i32>,
    }
}

/// A declaration with the properties `b` and `c` in a second part.
mod two_parts {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
        pub employee: u32,
        pub year: u16,
        pub a: Option<i32>,
        #[part(2)]
        pub b: Option<i32>,
        pub c: Option<i32>,
    }
}

#[test]
fn pat_wide_4_a_value_that_an_older_program_writes_into_the_old_part_is_reported() {
    let store = Engine::in_memory();
    let older = block_on(store.wide::<single::Counts>().create_if_missing()).unwrap();
    let newer = store.wide::<two_parts::Counts>();
    let key = || two_parts::Counts::key(1, 2014);
    let [a, b, c] = [Some(1); 3];
    block_on(older.insert(&single::Counts { employee: 1, year: 2014, a, b, c })).unwrap();
    assert!(block_on(newer.resize(key(), 1)).unwrap());
    block_on(older.set(single::Counts::key(1, 2014), single::Counts::B, 5)).unwrap();
    let error = block_on(newer.get(key())).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
    assert_eq!(error.key(), Some(("0000000001", "02014")), "{error}");
    assert!(block_on(newer.update(key(), |whole| whole.a = Some(2))).is_err());
    // This call passes the same number of stored parts as the first conversion.
    assert!(block_on(newer.resize(key(), 1)).unwrap());
    let (found, _) = block_on(newer.get(key())).unwrap().unwrap();
    assert_eq!([found.a, found.b, found.c], [a, b, c]);
}

#[test]
fn pat_wide_4_a_part_that_the_declaration_does_not_have_is_an_error() {
    #[derive(Wide, Debug)]
    #[entity(table = "MessageCounts")]
    #[partition_key(employee)]
    #[row_key(year)]
    struct Shorter {
        #[digits(6)]
        employee: u32,
        #[digits(4)]
        year: u16,
        #[slots("Day", 1..=250)]
        days: Vec<Option<i32>>,
    }
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(1))).unwrap();
    let error = block_on(store.wide::<Shorter>().get(Shorter::key(123, 2014))).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
    assert!(error.to_string().contains("part 02") && error.key() == Some(("000123", "2014")), "{error}");
    // An unrelated row is not a part, even if its name looks like that of a part.
    let raw = store.untyped("MessageCounts").unwrap();
    block_on(raw.insert(&TableEntity::new("000123", "2014_03").unwrap().with("Day001", 1))).unwrap();
    assert_eq!(days(&counts), vec![Some(1); 366]);
}

#[test]
fn pat_wide_1_kinds_buckets_json_and_keys_of_any_type_are_supported() {
    #[derive(Wide, Clone, Debug, PartialEq)]
    #[entity(table = "Logins", kind = "Logins")]
    #[partition_key("user_", bucket(user, 4))]
    #[row_key(escaped(name), "!", day)]
    struct Logins {
        user: u32,
        name: String,
        day: u16,
        #[property("Notes", json)]
        notes: Vec<String>,
        #[slots("Hour", 0..=23)]
        hours: [i64; 24],
        #[property("Total")]
        r#type: Option<f64>,
    }
    let store = Engine::in_memory();
    let logins = block_on(store.wide::<Logins>().create_if_missing()).unwrap();
    let whole = Logins {
        user: 7,
        name: "a/b".into(),
        day: 12,
        notes: vec!["x".into()],
        hours: [5; 24],
        r#type: Some(0.5),
    };
    block_on(logins.insert(&whole)).unwrap();
    let found = block_on(logins.get(Logins::key(7, "a/b", 12))).unwrap().unwrap().0;
    assert_eq!(found, whole);
    assert_eq!(Logins::PARTS[0][..3], ["Notes", "Hour00", "Hour01"]);
}

#[test]
fn pat_wide_1_a_list_with_another_length_than_its_slots_is_refused() {
    let (counts, store) = counts();
    let error =
        block_on(counts.insert(&YearOfCounts { days: vec![Some(1); 365], ..year_of(1) })).unwrap_err();
    assert_eq!((error.is_invalid_input(), error.rule(), store.calls().len()), (true, Some("PAT-WIDE-1"), 0));
    assert!(error.to_string().contains("365 values for 366 slots"), "{error}");
}

/// Tests a manual implementation of [`Wide`], for types that the derive macro does not support.
#[test]
fn pat_wide_2_a_manual_implementation_is_written_and_read() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Counted")]
    #[partition_key(employee)]
    #[row_key(year)]
    struct Counted {
        employee: u32,
        year: u16,
        office: Option<String>,
    }

    #[derive(Debug, PartialEq)]
    struct ByHand {
        year: Counted,
        days: Vec<Option<i32>>,
    }

    impl Wide for ByHand {
        type Header = Counted;
        const PARTS: &'static [&'static [&'static str]] =
            &[slot_names!("Day", 1, 183), slot_names!("Day", 184, 183)];

        fn header(&self) -> Counted {
            self.year.clone()
        }

        fn write(&self, out: &mut WideWriter) -> Result<()> {
            Self::names().zip(&self.days).try_for_each(|(name, count)| out.set(name, count))
        }

        fn read(year: Counted, properties: &WideReader<'_>) -> Result<Self> {
            Ok(Self { year, days: Self::names().map(|name| properties.get(name)).collect::<Result<_>>()? })
        }
    }

    let store = Engine::in_memory();
    let table = block_on(store.wide::<ByHand>().create_if_missing()).unwrap();
    let year = Counted { employee: 1, year: 2014, office: Some("Oslo".into()) };
    let whole = ByHand { year, days: vec![Some(7); 366] };
    block_on(table.insert(&whole)).unwrap();
    assert_eq!(block_on(table.get(Counted::key(1, 2014))).unwrap().unwrap().0, whole);
}

/// A declaration of a year. A third part for counts that were added later extends the two parts.
#[derive(Wide, Debug)]
#[entity(table = "MessageCounts")]
#[partition_key(employee)]
#[row_key(year)]
struct Grown {
    #[digits(6)]
    employee: u32,
    #[digits(4)]
    year: u16,
    office: Option<String>,
    #[slots("Day", 1..=250)]
    days: Vec<Option<i32>>,
    #[part(2)]
    #[slots("Day", 251..=366)]
    rest: Vec<Option<i32>>,
    #[part(3)]
    #[slots("Hour", 0..=23)]
    hours: Vec<Option<i64>>,
}

#[test]
fn pat_wide_4_entities_are_resized_to_more_parts_and_back() {
    let (counts, store) = counts();
    let grown = store.wide::<Grown>().with_retry(counts.retry().clone());
    let grown_key = || Grown::key(123, 2014);
    let absent = block_on(sendable(grown.resize(grown_key(), 2))).unwrap_err();
    assert!(absent.is_not_found() && absent.key() == Some(("000123", "2014")), "{absent}");
    for stored in [0, 100] {
        assert!(block_on(grown.resize(grown_key(), stored)).unwrap_err().is_invalid_input());
    }
    block_on(counts.insert(&year_of(1))).unwrap();
    // The entity has two stored parts, and not one or four. The conversion must not mistake a lost part for a part that was never declared.
    for stored in [1, 4] {
        let error = block_on(grown.resize(grown_key(), stored)).unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")), "{stored}");
    }
    assert_eq!(days(&counts), vec![Some(1); 366]);
    // In one attempt, another writer commits first.
    store.heal();
    store.script(|call, at| match (call, at) {
        (Call::Submit, 1) => Fault::Before(ErrorCode::UpdateConditionNotSatisfied),
        _ => Fault::None,
    });
    assert!(block_on(grown.resize(grown_key(), 2)).unwrap());
    store.heal();
    assert!(!block_on(grown.resize(grown_key(), 2)).unwrap(), "it is there");
    assert_eq!(store.calls().iter().filter(|call| **call == Call::Submit).count(), 0);
    let (whole, version) = block_on(grown.get(grown_key())).unwrap().unwrap();
    assert_eq!((whole.office.as_deref(), &whole.hours), (Some("Oslo"), &vec![None; 24]));
    assert_eq!([&whole.days[..], &whole.rest].concat(), vec![Some(1); 366]);
    block_on(grown.replace(
        &Grown { days: vec![Some(2); 250], rest: vec![Some(2); 116], hours: vec![Some(9); 24], ..whole },
        &version,
    ))
    .unwrap();
    // The older program converts the entity back. It removes the properties that it does not know.
    assert!(block_on(counts.get(key())).is_err());
    assert!(block_on(counts.resize(key(), 3)).unwrap());
    assert_eq!(days(&counts), vec![Some(2); 366]);
    assert!(!block_on(counts.resize(key(), 2)).unwrap(), "of as many parts as it is declared with");
}

#[test]
fn pat_wide_2_a_resize_that_fails_changes_nothing() {
    let (counts, store) = counts();
    block_on(counts.insert(&year_of(1))).unwrap();
    store.script(|call, _| match call {
        Call::Submit => Fault::Before(ErrorCode::ServerBusy),
        _ => Fault::None,
    });
    let grown = store.wide::<Grown>().with_retry(counts.retry().clone());
    assert!(block_on(grown.resize(Grown::key(123, 2014), 2)).is_err());
    // If the read with the declared number of parts fails, its error is returned.
    store.script(|_, at| if at == 1 { Fault::Before(ErrorCode::ServerBusy) } else { Fault::None });
    let error = block_on(grown.resize(Grown::key(123, 2014), 1)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServerBusy);
    store.heal();
    assert_eq!(days(&counts), vec![Some(1); 366]);
}
