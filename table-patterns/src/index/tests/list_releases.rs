//! Tests lists that two releases use at the same time. The releases declare the key fields in different orders, which does not change the schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use pollster::block_on;
use proptest::prelude::*;
use table_core::Value;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::queue::QueueName;
use table_core::table::TableStoreExt;

use crate::EntityStore;
use crate::entities::Entities;
use crate::index::{FindingKind, ListBlobs};
use crate::outbox::Outbox;
use crate::tests::faults::FaultyBlobs;
use crate::work::Worker;

/// The text fields of a task: country, city, team, name and tag.
type Texts = [&'static str; 5];

fn key([country, city, team, name, _]: Texts) -> EntityKey {
    EntityKey::new(format!("{country}_{city}"), format!("task_{team}_{name}")).unwrap()
}

type Tasks<T> = Entities<T, Engine, Outbox<Engine, Engine>>;

/// A release's handle to the table.
trait Release {
    fn put(&self, task: Texts);
    fn delete(&self, task: Texts) -> bool;
    /// Settles one recorded change. If `all` is `true`, settles all of them.
    fn work(&self, outbox: &Outbox<Engine, Engine>, all: bool);
    /// Returns the keys in the list of a tag in a partition.
    fn inside(&self, country: &str, city: &str, tag: &str) -> Vec<EntityKey>;
    /// Returns the keys in the list of a tag in another table.
    fn outside(&self, tag: &str) -> Vec<EntityKey>;
    /// Checks the lists and returns the findings. If `repair` is `true`, also repairs the lists.
    fn findings(&self, repair: bool) -> Vec<FindingKind>;
}

/// Declares a release whose struct has its fields in the given order.
macro_rules! release {
    ($release:ident: $($field:ident),+) => {
        mod $release {
            #[derive(Clone, Debug, table_core::Entity, PartialEq)]
            #[entity(table = "Tasks", crate = table_core)]
            #[partition_key(country, "_", city)]
            #[row_key("task_", team, "_", name)]
            #[index_entity(ByTag, at_most = 1000, row_key("tag_", tag))]
            #[index_entity(Tagged, at_most = 2000, table = "Tags", partition_key(tag), row_key("all"))]
            pub(super) struct Task { $(#[without('_')] pub(super) $field: String),+ }
        }

        impl Release for Tasks<$release::Task> {
            fn put(&self, [country, city, team, name, tag]: Texts) {
                let [country, city, team, name, tag] = [country, city, team, name, tag].map(str::to_owned);
                block_on(self.insert_or_replace(&$release::Task { country, city, team, name, tag })).unwrap();
            }

            fn delete(&self, [country, city, team, name, _]: Texts) -> bool {
                let key = $release::Task::key(country, city, team, name);
                block_on(Entities::delete(self, key, IfMatch::Any)).is_ok()
            }

            fn work(&self, outbox: &Outbox<Engine, Engine>, all: bool) {
                let worker = Worker::new(outbox.clone()).with_index_handler(self);
                if all {
                    block_on(worker.run_until_idle()).unwrap();
                } else {
                    block_on(worker.run_once()).unwrap();
                }
            }

            fn inside(&self, country: &str, city: &str, tag: &str) -> Vec<EntityKey> {
                block_on(self.keys_of($release::Task::by_tag(country, city, tag))).unwrap()
            }

            fn outside(&self, tag: &str) -> Vec<EntityKey> {
                block_on(self.keys_of($release::Task::tagged(tag))).unwrap()
            }

            fn findings(&self, repair: bool) -> Vec<FindingKind> {
                let check = if repair { self.check().repair() } else { self.check() };
                let report = block_on(check.run()).unwrap();
                report.findings.iter().map(|finding| finding.kind).collect()
            }
        }
    };
}

release!(first: country, city, team, name, tag);
release!(second: tag, name, team, city, country);

/// A table with the handles of both releases.
struct World {
    engine: Engine,
    outbox: Outbox<Engine, Engine>,
    releases: [Box<dyn Release>; 2],
}

/// Creates a table that stores lists with more than `beyond` members in blobs.
fn world(beyond: usize) -> World {
    let engine = Engine::in_memory();
    let outbox = Outbox::new(engine.clone(), engine.clone(), QueueName::new("indexes").unwrap());
    let lists = ListBlobs::new(Arc::new(FaultyBlobs::default()), "indexes").spill_above(beyond);
    let of_first =
        engine.entities_with_outbox::<first::Task, _>(outbox.clone()).with_list_blobs(lists.clone());
    let of_second = engine.entities_with_outbox::<second::Task, _>(outbox.clone()).with_list_blobs(lists);
    block_on(async {
        outbox.create_queues().await.unwrap();
        let of_first = of_first.create_if_missing().await.unwrap();
        let of_second = of_second.create_if_missing().await.unwrap();
        World { engine, outbox, releases: [Box::new(of_first), Box::new(of_second)] }
    })
}

impl World {
    /// Returns the list rows, with their keys.
    fn lists(&self) -> Vec<TableEntity> {
        let rows =
            |table| block_on(self.engine.untyped(table).unwrap().scan("lists").max_rows(1_000).collect());
        let all = ["Tasks", "Tags"].map(rows).map(Result::unwrap).concat();
        let is_list = |row: &TableEntity| row.iter().any(|(name, _)| name.starts_with("Task"));
        all.into_iter().filter(is_list).collect()
    }

    /// Converts each list of keys to the format of an older release, with the key parts in the first release's field order.
    fn make_older(&self) {
        for list in self.lists() {
            let Some(Value::String(text)) = list.get("TaskKeys") else { continue };
            let is_inside = list.key().row_key.as_str().starts_with("tag_");
            let members: Vec<Vec<String>> = if is_inside {
                let keys: Vec<String> = serde_json::from_str(text).unwrap();
                keys.iter().map(|row_key| parts(row_key)).collect()
            } else {
                let keys: Vec<[String; 2]> = serde_json::from_str(text).unwrap();
                keys.iter()
                    .map(|[partition_key, row_key]| [parts(row_key), parts(partition_key)].concat())
                    .collect()
            };
            let table = if is_inside { "Tasks" } else { "Tags" };
            let key = list.key();
            let older = TableEntity::new(key.partition_key.as_str(), key.row_key.as_str()).unwrap();
            let older = older.with("TaskDetails", serde_json::to_string(&members).unwrap());
            block_on(self.engine.untyped(table).unwrap().insert_or_replace(&older)).unwrap();
        }
    }

    /// Returns `true` if any list is in the format of an older release.
    fn has_older(&self) -> bool {
        self.lists().iter().any(|list| list.get("TaskDetails").is_some())
    }
}

fn parts(key: &str) -> Vec<String> {
    key.trim_start_matches("task_").split('_').map(str::to_owned).collect()
}

#[derive(Clone, Debug)]
enum Verb {
    Put(Texts),
    Delete(Texts),
    Work,
    /// Converts the stored lists to the format of an older release.
    Age,
}

fn verb() -> impl Strategy<Value = Verb> {
    let text = || prop::sample::select(vec!["a", "b"]);
    let task = || [text(), text(), text(), text(), text()];
    prop_oneof![
        4 => task().prop_map(Verb::Put),
        2 => task().prop_map(Verb::Delete),
        3 => Just(Verb::Work),
        1 => Just(Verb::Age),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn pat_ix_1_2_lists_name_the_same_entities_in_releases_with_different_orders_of_fields(
        beyond in prop::sample::select(vec![1_usize, usize::MAX, usize::MAX]),
        verbs in prop::collection::vec((0..2_usize, verb()), 1..25),
        is_deployment in any::<bool>(),
    ) {
        let world = world(beyond);
        let release = |number: usize| &world.releases[if is_deployment { number } else { 0 }];
        let mut model: BTreeMap<EntityKey, Texts> = BTreeMap::new();
        let wanted = |model: &BTreeMap<EntityKey, Texts>, is_it: &dyn Fn(&Texts) -> bool| {
            model.iter().filter(|(_, task)| is_it(task)).map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        for (number, verb) in verbs {
            match verb {
                Verb::Put(task) => {
                    release(number).put(task);
                    model.insert(key(task), task);
                }
                Verb::Delete(task) => {
                    let was_there = model.remove(&key(task)).is_some();
                    assert_eq!(release(number).delete(task), was_there);
                }
                Verb::Work => release(number).work(&world.outbox, false),
                // An older release's lists are converted before the fields are reordered.
                Verb::Age if is_deployment => {}
                Verb::Age => world.make_older(),
            }
            for [country, city, tag] in places() {
                let of = wanted(&model, &|task| [task[0], task[1], task[4]] == [country, city, tag]);
                for number in 0..2 {
                    assert_eq!(release(number).inside(country, city, tag), of, "{country} {city} {tag}");
                }
            }
        }
        release(1).work(&world.outbox, true);
        for tag in ["a", "b"] {
            let of = wanted(&model, &|task| task[4] == tag);
            assert_eq!(release(0).outside(tag), of);
            assert_eq!(release(1).outside(tag), of);
        }
        let was_older = world.has_older();
        let found = release(0).findings(true);
        assert!(found.iter().all(|kind| *kind == FindingKind::Stale) && found.is_empty() != was_older, "{found:?}");
        assert!(!world.has_older(), "a repair stores keys");
        for release in &world.releases {
            assert_eq!(release.findings(false), []);
        }
    }
}

fn places() -> impl Iterator<Item = [&'static str; 3]> {
    let both = || ["a", "b"].into_iter();
    both().flat_map(move |country| both().flat_map(move |city| both().map(move |tag| [country, city, tag])))
}
