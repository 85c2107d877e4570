//! Tests that the engine behaves like a simple map. Writes, checkpoints, compactions and reopens occur in any order.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<(u8, u8)>),
    Checkpoint,
    Compact,
    Reopen,
    Recreate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::collection::vec((0..10_u8, 0..6_u8), 1..5).prop_map(Step::Write),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::Compact),
        2 => Just(Step::Reopen),
        1 => Just(Step::Recreate),
    ]
}

type Model = BTreeMap<String, i32>;

/// The effect of an operation on the model.
enum Effect {
    Set(i32),
    Remove,
    Fail,
}

/// Returns an operation of the given kind, and its effect on the model.
fn operation(model: &Model, key: &str, kind: u8, n: i32) -> (OperationKind, Effect) {
    let there = model.contains_key(key);
    let if_there = |effect| if there { effect } else { Effect::Fail };
    match kind {
        0 => (insert(n), if there { Effect::Fail } else { Effect::Set(n) }),
        1 => (OperationKind::Replace(row(n), IfMatch::Any), if_there(Effect::Set(n))),
        2 => (OperationKind::Merge(row(n), IfMatch::Any), if_there(Effect::Set(n))),
        3 => (upsert(n), Effect::Set(n)),
        4 => (OperationKind::InsertOrMerge(row(n)), Effect::Set(n)),
        _ => (delete(), if_there(Effect::Remove)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn egt_9_and_con_1_the_engine_agrees_with_a_map(steps in prop::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = on_disk(folder.path());
        let mut model = Model::new();
        for (n, step) in steps.into_iter().enumerate() {
            let n = i32::try_from(n).unwrap();
            match step {
                Step::Write(writes) => {
                    let writes: BTreeMap<String, u8> =
                        writes.into_iter().map(|(key, kind)| (format!("k{key}"), kind)).collect();
                    let (mut after, mut fails) = (model.clone(), false);
                    let mut operations = Vec::new();
                    for (key, kind) in &writes {
                        let (kind, effect) = operation(&model, key, *kind, n);
                        operations.push((key.as_str(), kind));
                        match effect {
                            Effect::Set(n) => drop(after.insert(key.clone(), n)),
                            Effect::Remove => drop(after.remove(key)),
                            Effect::Fail => fails = true,
                        }
                    }
                    let outcome = submit(&engine, "Sales", operations);
                    prop_assert_eq!(outcome.is_err(), fails);
                    if !fails {
                        model = after;
                    }
                }
                Step::Checkpoint => wait(engine.checkpoint()).unwrap(),
                Step::Compact => wait(engine.compact()).unwrap(),
                Step::Reopen => {
                    drop(engine);
                    engine = on_disk(folder.path());
                }
                Step::Recreate => {
                    wait(engine.delete_table(&employees())).unwrap();
                    wait(engine.create_table(&employees())).unwrap();
                    model.clear();
                }
            }
            let wanted: Vec<_> =
                model.iter().map(|(key, n)| ("Sales".to_owned(), key.clone(), *n)).collect();
            prop_assert_eq!(all(&engine), wanted);
        }
    }
}
