//! Tests that programs whose declarations assign a property to different parts never read an outdated value or write one back.

use std::collections::BTreeMap;

use super::*;

/// A declaration with two parts; the property `b` is in the first part.
mod old {
    #[derive(super::Wide, Clone, Debug)]
    #[entity(table = "Counts")]
    #[partition_key(employee)]
    #[row_key(year)]
    pub(super) struct Counts {
        pub employee: u32,
        pub year: u16,
        pub a: Option<i32>,
        pub b: Option<i32>,
        #[part(2)]
        pub c: Option<i32>,
    }
}

/// A declaration with two parts; the property `b` is in the second part.
mod new {
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

/// A declaration with all properties in one part.
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

/// A write by one of the programs.
#[derive(Clone, Debug)]
enum Write {
    /// Sets these properties with a patch.
    Set(BTreeMap<usize, i32>),
    /// Sets a property by updating the whole entity.
    Update(usize, i32),
    Replace([i32; 3]),
    Resize(usize),
}

fn write() -> impl Strategy<Value = Write> {
    let value = 0..9;
    prop_oneof![
        3 => prop::collection::btree_map(0_usize..3, value.clone(), 1..3).prop_map(Write::Set),
        2 => (0_usize..3, value.clone()).prop_map(|(name, value)| Write::Update(name, value)),
        1 => prop::array::uniform3(value).prop_map(Write::Replace),
        1 => (1_usize..3).prop_map(Write::Resize),
    ]
}

type Values = [Option<i32>; 3];

/// The function with which one of the programs reads.
type Reader = fn(&Engine) -> Result<Option<Values>>;

/// Performs a write by one program. Returns `true` if the write succeeded. A program is represented by the module with its declaration.
macro_rules! program {
    ($name:ident, $read:ident, $module:ident) => {
        fn $read(store: &Engine) -> Result<Option<Values>> {
            let table = store.wide::<$module::Counts>();
            let found = block_on(table.get($module::Counts::key(1, 2014)))?;
            Ok(found.map(|(whole, _)| [whole.a, whole.b, whole.c]))
        }

        fn $name(store: &Engine, write: &Write) -> Result<()> {
            let table = store.wide::<$module::Counts>();
            let key = || $module::Counts::key(1, 2014);
            let properties = [$module::Counts::A, $module::Counts::B, $module::Counts::C];
            match write {
                Write::Set(values) => {
                    let patch = values.iter().fold(table.patch(key()), |patch, (name, value)| {
                        patch.set(properties[*name].clone(), *value)
                    });
                    block_on(patch.send())
                }
                Write::Update(name, value) => block_on(table.update(key(), |whole| {
                    *[&mut whole.a, &mut whole.b, &mut whole.c][*name] = Some(*value);
                }))
                .map(drop),
                Write::Replace(values) => {
                    let [a, b, c] = values.map(Some);
                    let whole = $module::Counts { employee: 1, year: 2014, a, b, c };
                    block_on(table.insert_or_replace(&whole)).map(drop)
                }
                Write::Resize(stored) => block_on(table.resize(key(), *stored)).map(drop),
            }
        }
    };
}

program!(write_old, read_old, old);
program!(write_new, read_new, new);
program!(write_single, read_single, single);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Tests that reads agree with a model that contains the last acknowledged value of each property.
    #[test]
    fn pat_wide_4_a_moved_property_is_read_with_its_last_value_or_is_an_error(
        first in 0_usize..3,
        writes in prop::collection::vec((0_usize..3, write()), 1..12),
    ) {
        let store = Engine::in_memory();
        block_on(store.wide::<old::Counts>().create_if_missing()).unwrap();
        let programs: [fn(&Engine, &Write) -> Result<()>; 3] = [write_old, write_new, write_single];
        let readers: [Reader; 3] = [read_old, read_new, read_single];
        programs[first](&store, &Write::Replace([0; 3])).unwrap();
        let mut model = [Some(0); 3];
        for (program, write) in writes {
            let before = readers[program](&store).ok().flatten();
            let is_readable = readers.iter().any(|reader| reader(&store).is_ok());
            match (programs[program](&store, &write), &write) {
                (Ok(()), Write::Set(values)) => values.iter().for_each(|(name, value)| model[*name] = Some(*value)),
                (Ok(()), Write::Update(name, value)) => {
                    prop_assert_eq!(before, Some(model), "an update overwrites a value that it did not read");
                    model[*name] = Some(*value);
                }
                (Ok(()), Write::Replace(values)) => model = values.map(Some),
                // A conversion keeps the value in the declared part. If two parts have different values, this may be the earlier one.
                (Ok(()), Write::Resize(_)) => {
                    let found = readers[program](&store).unwrap();
                    prop_assert!(!is_readable || found == Some(model), "{:?}", found);
                    model = found.unwrap();
                }
                (Err(error), _) => {
                    prop_assert!(error.is_not_found() || error.rule() == Some("PAT-WIDE-4"), "{}", error);
                }
            }
            for reader in readers {
                match reader(&store) {
                    Ok(found) => prop_assert_eq!(found, Some(model)),
                    Err(error) => prop_assert_eq!(error.rule(), Some("PAT-WIDE-4"), "{}", error),
                }
            }
        }
    }
}

#[test]
fn pat_wide_4_a_value_that_an_older_program_writes_into_the_old_part_is_reported() {
    let store = Engine::in_memory();
    block_on(store.wide::<single::Counts>().create_if_missing()).unwrap();
    write_single(&store, &Write::Replace([1; 3])).unwrap();
    write_new(&store, &Write::Resize(1)).unwrap();
    write_single(&store, &Write::Set(BTreeMap::from([(1, 5)]))).unwrap();
    let error = read_new(&store).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")));
    assert_eq!(error.key(), Some(("0000000001", "02014")), "{error}");
    let table = store.wide::<new::Counts>();
    let key = || new::Counts::key(1, 2014);
    assert!(block_on(table.update(key(), |whole| whole.a = Some(2))).is_err());
    // The call states the same number of parts as the first conversion.
    assert!(block_on(table.resize(key(), 1)).unwrap());
    assert_eq!(read_new(&store).unwrap(), Some([Some(1); 3]));
}
