//! Compares lists with a simple map from values to keys after random writes. Changes are settled in any order, some of them twice. Lists are stored in entities
//! or in blobs, or move between them.

use pollster::block_on;
use proptest::prelude::*;
use table_core::Entity;
use table_core::etag::IfMatch;

use super::people::{DEPARTMENTS, Employee, Model, assert_lists, person, recorded, scene, settle_all};

const NAMES: [&str; 3] = ["Jones", "jones", "O'Neil/Ab"];

#[derive(Clone, Debug)]
enum Verb {
    Put(Employee),
    Delete(Employee),
    /// Settles an earlier change in the remote lists, either for the first time or again.
    Settle(prop::sample::Index),
    /// Advances the clock, and collects unreferenced blobs.
    Collect,
}

fn verb() -> impl Strategy<Value = Verb> {
    let somebody = || {
        (prop::sample::select(DEPARTMENTS.to_vec()), 0_u32..5, prop::sample::select(NAMES.to_vec()))
            .prop_map(|(department, id, name)| person(department, id, name))
    };
    prop_oneof![
        4 => somebody().prop_map(Verb::Put),
        2 => somebody().prop_map(Verb::Delete),
        3 => any::<prop::sample::Index>().prop_map(Verb::Settle),
        1 => Just(Verb::Collect),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pat_ix_2_4_lists_agree_with_the_model_at_any_location(
        beyond in prop::sample::select(vec![0_usize, 1, 2, usize::MAX]),
        verbs in prop::collection::vec(verb(), 1..25),
    ) {
        block_on(async {
            let scene = scene(beyond).await?;
            let people = &scene.people;
            let mut model = Model::new();
            let mut seen = Vec::new();
            for verb in verbs {
                match verb {
                    Verb::Put(person) => {
                        people.insert_or_replace(&person).await?;
                        model.insert(person.key_of()?, person);
                    }
                    Verb::Delete(person) => {
                        let key = Employee::key(&person.department, person.id);
                        let was_there = model.remove(&person.key_of()?).is_some();
                        assert_eq!(people.delete(key, IfMatch::Any).await.is_ok(), was_there);
                    }
                    Verb::Settle(at) => {
                        seen.extend(recorded(people).await?);
                        if !seen.is_empty() {
                            people.settle(at.get(&seen)).await?;
                        }
                    }
                    Verb::Collect => {
                        scene.wait();
                        people.collect_orphaned_lists().await?;
                    }
                }
                // Lists in their entities' partition are always consistent.
                for name in NAMES {
                    for department in DEPARTMENTS {
                        let is_it = |person: &&Employee| person.last_name == name && person.department == department;
                        let wanted: Vec<_> = model.values().filter(is_it).map(|one| one.key_of().unwrap()).collect();
                        assert_eq!(people.keys_of(Employee::by_last_name(department, name)).await?, wanted);
                    }
                }
            }
            settle_all(people).await?;
            assert_lists(people, &model, &NAMES).await?;
            for change in &seen {
                assert_eq!(people.settle(change).await?, 0, "what is in line stays untouched");
            }
            scene.collect_all().await?;
            assert_eq!(scene.blobs.names(), scene.named().await?);
            assert_lists(people, &model, &NAMES).await
        })
        .unwrap();
    }
}
