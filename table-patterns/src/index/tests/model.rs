//! Compares indexed entities with a simple map after random writes. The results must be equal, and the index rows must agree with the definitions of the
//! indexes.

use std::collections::BTreeMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::{Entity, ErrorCode, Result, Versioned};

use super::kit::{Staff, expected, staff, stored};
use crate::EntityStore;
use crate::entities::Entities;

#[derive(Clone, Debug)]
enum Verb {
    Insert(Staff),
    Replace(Staff),
    Merge(Staff),
    InsertOrReplace(Staff),
    InsertOrMerge(Staff),
    Delete(u32),
    Update(Staff),
    UpdateRead(Staff),
    Patch(u32, u8, Option<String>),
    Note(u32, Option<i32>),
    Transaction(Vec<(Staff, u8)>),
}

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![
        3 => staff().prop_map(Verb::Insert),
        2 => staff().prop_map(Verb::Replace),
        1 => staff().prop_map(Verb::Merge),
        2 => staff().prop_map(Verb::InsertOrReplace),
        1 => staff().prop_map(Verb::InsertOrMerge),
        1 => (0_u32..6).prop_map(Verb::Delete),
        2 => staff().prop_map(Verb::Update),
        1 => staff().prop_map(Verb::UpdateRead),
        1 => (0_u32..6, 17_u8..20, prop::option::of("[abc]")).prop_map(|(id, age, email)| Verb::Patch(id, age, email)),
        1 => (0_u32..6, prop::option::of(0..3)).prop_map(|(id, note)| Verb::Note(id, note)),
        2 => prop::collection::vec((staff(), 0_u8..3), 1..5).prop_map(Verb::Transaction),
    ]
}

type Model = BTreeMap<EntityKey, Staff>;

/// Returns the error codes with which a write may fail, because it would leave an invalid set of entities. The list is empty if the write must succeed.
fn forbidden(after: &Model, before: &Model) -> Vec<ErrorCode> {
    let mut codes = Vec::new();
    let all = || after.values();
    if all()
        .any(|one| all().any(|other| one.id != other.id && one.email.is_some() && one.email == other.email))
    {
        codes.push(ErrorCode::UniqueViolation);
    }
    let namesakes = |model: &Model, name: &str| model.values().filter(|one| one.last_name == name).count();
    if all().any(|one| {
        let now = namesakes(after, &one.last_name);
        now > 3 && now > namesakes(before, &one.last_name)
    }) {
        codes.push(ErrorCode::IndexListFull);
    }
    codes
}

fn merged(old: &Staff, new: &Staff) -> Staff {
    Staff {
        email: new.email.clone().or_else(|| old.email.clone()),
        note: new.note.or(old.note),
        ..new.clone()
    }
}

/// Returns the model after a write. If the write must fail, returns the error codes with which it may fail.
fn applied(model: &Model, verb: &Verb) -> Result<Model, Vec<ErrorCode>> {
    let mut after = model.clone();
    let key_of = |staff: &Staff| staff.key_of().unwrap();
    let key = |id: u32| EntityKey::new("Sales", format!("empid_{id:06}")).unwrap();
    let mut wrong = Vec::new();
    match verb {
        Verb::Insert(new) => {
            if after.insert(key_of(new), new.clone()).is_some() {
                wrong.push(ErrorCode::EntityAlreadyExists);
            }
        }
        Verb::InsertOrReplace(new) => drop(after.insert(key_of(new), new.clone())),
        Verb::InsertOrMerge(new) => {
            let new = model.get(&key_of(new)).map_or(new.clone(), |old| merged(old, new));
            after.insert(key_of(&new), new);
        }
        Verb::Replace(new) | Verb::Update(new) | Verb::UpdateRead(new) => {
            if after.insert(key_of(new), new.clone()).is_none() {
                return Err(vec![ErrorCode::ResourceNotFound]);
            }
        }
        Verb::Merge(new) => match model.get(&key_of(new)) {
            Some(old) => drop(after.insert(key_of(new), merged(old, new))),
            None => return Err(vec![ErrorCode::ResourceNotFound]),
        },
        Verb::Delete(id) => {
            if after.remove(&key(*id)).is_none() {
                return Err(vec![ErrorCode::ResourceNotFound]);
            }
        }
        Verb::Patch(id, age, email) => match after.get_mut(&key(*id)) {
            Some(old) => (old.age, old.email) = (*age, email.clone()),
            None => return Err(vec![ErrorCode::ResourceNotFound]),
        },
        Verb::Note(id, note) => match after.get_mut(&key(*id)) {
            Some(old) => old.note = *note,
            None => return Err(vec![ErrorCode::ResourceNotFound]),
        },
        Verb::Transaction(steps) => {
            let mut seen = Vec::new();
            for (new, what) in steps {
                let key = key_of(new);
                if !model.contains_key(&key) && *what == 2 {
                    continue;
                }
                if seen.contains(&key) {
                    return Err(vec![ErrorCode::InvalidDuplicateRow, ErrorCode::UniqueViolation]);
                }
                seen.push(key.clone());
                match (model.contains_key(&key), what) {
                    (true, 0) => drop(after.remove(&key)),
                    _ => drop(after.insert(key, new.clone())),
                }
            }
        }
    }
    wrong.extend(forbidden(&after, model));
    if wrong.is_empty() { Ok(after) } else { Err(wrong) }
}

async fn run(table: &Entities<Staff, Engine>, verb: &Verb) -> Result<()> {
    match verb {
        Verb::Insert(new) => table.insert(new).await.map(drop),
        Verb::Replace(new) => table.replace(new, IfMatch::Any).await.map(drop),
        Verb::Merge(new) => table.merge(new, IfMatch::Any).await.map(drop),
        Verb::InsertOrReplace(new) => table.insert_or_replace(new).await.map(drop),
        Verb::InsertOrMerge(new) => table.insert_or_merge(new).await.map(drop),
        Verb::Delete(id) => table.delete(Staff::key("Sales", *id), IfMatch::Any).await,
        Verb::Update(new) => {
            let written = table.update(Staff::key("Sales", new.id), |staff| *staff = new.clone()).await?;
            assert_eq!(written.value(), new);
            Ok(())
        }
        Verb::UpdateRead(new) => {
            let read = table.get(Staff::key("Sales", new.id)).await?;
            let Some(read) = read else {
                return Err(table_core::Error::new(ErrorCode::ResourceNotFound, "nothing to update"));
            };
            table.update(&read, |staff| *staff = new.clone()).await.map(drop)
        }
        Verb::Patch(id, age, email) => {
            let patch = table.patch(Staff::key("Sales", *id)).set(Staff::AGE, *age);
            patch.set(Staff::EMAIL, email.clone()).send().await.map(drop)
        }
        Verb::Note(id, note) => {
            table.patch(Staff::key("Sales", *id)).set(Staff::NOTE, *note).send().await.map(drop)
        }
        Verb::Transaction(steps) => {
            let mut transaction = table.unit(Staff::partition("Sales"))?;
            let mut is_empty = true;
            for (new, what) in steps {
                let old = table.get(Staff::key("Sales", new.id)).await?;
                match (old, what) {
                    (Some(old), 0) => drop(transaction.delete(&old)?),
                    (Some(old), _) => drop(transaction.replace(&old, new)?),
                    (None, 0 | 1) => drop(transaction.insert(new)?),
                    (None, _) => continue,
                }
                is_empty = false;
            }
            if is_empty { Ok(()) } else { transaction.commit().await.map(drop) }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn pat_intra_4_5_7_ix_2_rows_always_match_the_definition(verbs in prop::collection::vec(verb(), 1..25)) {
        block_on(async {
            let engine = Engine::in_memory();
            let table = engine.entities::<Staff>().create_if_missing().await?;
            let mut model = Model::new();
            for verb in &verbs {
                let answer = run(&table, verb).await;
                match (applied(&model, verb), answer) {
                    (Ok(after), Ok(())) => model = after,
                    (Err(codes), Err(error)) if codes.contains(&error.code()) => {}
                    (wanted, found) => panic!("{verb:?} on {model:?}: {found:?}, and not {wanted:?}"),
                }
                assert_eq!(stored(&engine, &["Company"]).await?, expected(model.values()), "after {verb:?}");
            }
            for staff in model.values() {
                let found = table.get_by_index(Staff::by_last_name("Sales", &staff.last_name)).await?;
                let namesakes = model.values().filter(|other| other.last_name == staff.last_name);
                assert_eq!(found.iter().map(Versioned::value).collect::<Vec<_>>(), namesakes.collect::<Vec<_>>());
                if let Some(email) = &staff.email {
                    assert_eq!(table.get(Staff::by_email("Sales", email)).await?.as_deref(), Some(staff));
                }
            }
            let own = table.query(Staff::partition("Sales")).collect().await?;
            assert_eq!(own, model.values().cloned().collect::<Vec<_>>());
            Ok::<(), table_core::Error>(())
        }).unwrap();
    }
}
