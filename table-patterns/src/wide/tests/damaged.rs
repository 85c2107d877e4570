//! Tests corrupted wide entities. Only a write that replaces all parts makes them readable again.

use super::*;

/// The corruption of one part by another tool or an incomplete copy. Parts are counted from 1.
#[derive(Clone, Debug)]
enum Damage {
    Delete(usize),
    RemoveWriteId(usize),
    ChangeWriteId(usize),
    Replace(usize),
}

#[derive(Clone, Debug)]
enum Act {
    Patch(Vec<usize>),
    Update,
    Replace,
    Delete,
    Resize,
}

fn damage() -> impl Strategy<Value = Damage> {
    let part = || 1_usize..=2;
    prop_oneof![
        part().prop_map(Damage::Delete),
        part().prop_map(Damage::RemoveWriteId),
        part().prop_map(Damage::ChangeWriteId),
        part().prop_map(Damage::Replace),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let days = prop_oneof![Just(1_usize), Just(2), Just(250), Just(251), Just(366)];
    prop_oneof![
        3 => prop::collection::btree_set(days, 1..4).prop_map(|days| Act::Patch(days.into_iter().collect())),
        1 => Just(Act::Update),
        1 => Just(Act::Replace),
        1 => Just(Act::Delete),
        1 => Just(Act::Resize),
    ]
}

impl Damage {
    async fn apply(&self, store: &FaultyStore<Engine>) -> Result<()> {
        let raw = store.untyped("MessageCounts")?;
        let (Self::Delete(part)
        | Self::RemoveWriteId(part)
        | Self::ChangeWriteId(part)
        | Self::Replace(part)) = self;
        let key = Selection::point("000123", format!("2014_{part:02}"));
        let mut row = TableEntity::new("000123", format!("2014_{part:02}"))?;
        match self {
            Self::Delete(_) => return raw.delete(key, IfMatch::Any).await,
            Self::Replace(_) => drop(row.insert(DAYS.at(250 * (part - 1) + 1).name(), 1)),
            Self::RemoveWriteId(_) | Self::ChangeWriteId(_) => {
                row = raw.get(key).await?.unwrap().into_value();
                row.remove(WRITE_ID);
            }
        }
        if matches!(self, Self::ChangeWriteId(_)) {
            row.insert(WRITE_ID, uuid::Uuid::new_v4());
        }
        raw.insert_or_replace(&row).await.map(drop)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn pat_wide_4_only_a_write_of_all_parts_repairs_a_damaged_entity(
        damage in damage(),
        acts in prop::collection::vec(act(), 1..4),
    ) {
        let (counts, store) = counts();
        let version = block_on(counts.insert(&year_of(7))).unwrap();
        block_on(damage.apply(&store)).unwrap();
        for act in acts {
            let done = block_on(async {
                match &act {
                    Act::Patch(days) => {
                        days.iter().fold(counts.patch(key()), |patch, day| patch.set(DAYS.at(*day), 1)).send().await
                    }
                    Act::Update => counts.update(key(), |year| year.office = None).await.map(drop),
                    Act::Replace => counts.replace(&year_of(8), &version).await.map(drop),
                    Act::Delete => counts.delete(key(), &version).await,
                    Act::Resize => counts.resize(key(), 2).await.map(drop),
                }
            });
            let is_single = matches!(&act, Act::Patch(days) if days.iter().all(|day| *day <= 250) || days.iter().all(|day| *day > 250));
            prop_assert!(is_single || done.is_err(), "{:?}", act);
            if let (Act::Patch(_), false, Err(error)) = (&act, is_single, done) {
                prop_assert_eq!((error.code(), error.rule()), (ErrorCode::EntityMismatch, Some("PAT-WIDE-4")), "{}", error);
            }
            let error = block_on(counts.get(key())).unwrap_err();
            prop_assert_eq!(error.rule(), Some("PAT-WIDE-4"), "{:?}: {}", act, error);
        }
        block_on(counts.insert_or_replace(&year_of(9))).unwrap();
        prop_assert_eq!(days(&counts), vec![Some(9); 366]);
    }
}

/// Tests parts that pages of the store omit. Without them, the entity would seem not to exist. The store may not even return their keys.
#[test]
fn pat_wide_3_an_entity_whose_parts_the_store_cannot_represent_is_not_missing() {
    let parts = [&["2014_01"][..], &["2014_02"], &["2014_01", "2014_02"]];
    for (property, omitted) in [WRITE_ID, "RowKey"].into_iter().flat_map(|name| parts.map(|one| (name, one)))
    {
        let (counts, store) = counts();
        block_on(counts.insert(&year_of(1))).unwrap();
        store
            .misread((property, ErrorCode::EntityMismatch), |_, key| omitted.contains(&key.row_key.as_str()));
        let errors = [
            block_on(counts.get(key())).map(drop).unwrap_err(),
            block_on(counts.update(key(), |year| year.office = None)).map(drop).unwrap_err(),
            block_on(counts.resize(key(), 2)).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.code(), ErrorCode::EntityMismatch, "{property}: {error}");
            let is_named = |(_, row_key): (&str, &str)| match property {
                WRITE_ID => omitted.contains(&row_key),
                _ => row_key == "2014",
            };
            assert!(error.key().is_some_and(is_named), "{property}: {error}");
        }
        store.heal();
        assert!(block_on(counts.get(key())).unwrap().is_some());
        // A row between the parts that is not a part does not matter.
        let other = TableEntity::new("000123", "2014_01_07").unwrap().with(WRITE_ID, 7);
        block_on(store.untyped("MessageCounts").unwrap().insert(&other)).unwrap();
        store.misread((property, ErrorCode::EntityMismatch), |_, key| key.row_key.as_str() == "2014_01_07");
        assert!(block_on(counts.get(key())).unwrap().is_some());
    }
}
