//! Tests lists that two releases use at the same time. The releases declare the key fields in different orders, which does not change the schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use pollster::block_on;
use proptest::prelude::*;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::queue::QueueName;

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
    /// Checks the lists and returns the findings.
    fn findings(&self) -> Vec<FindingKind>;
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

            fn findings(&self) -> Vec<FindingKind> {
                let report = block_on(self.check().run()).unwrap();
                report.findings.iter().map(|finding| finding.kind).collect()
            }
        }
    };
}

release!(first: country, city, team, name, tag);
release!(second: tag, name, team, city, country);

/// A table with the handles of both releases.
struct World {
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
        World { outbox, releases: [Box::new(of_first), Box::new(of_second)] }
    })
}

#[derive(Clone, Debug)]
enum Verb {
    Put(Texts),
    Delete(Texts),
    Work,
}

fn verb() -> impl Strategy<Value = Verb> {
    let text = || prop::sample::select(vec!["a", "b"]);
    let task = || [text(), text(), text(), text(), text()];
    prop_oneof![
        4 => task().prop_map(Verb::Put),
        2 => task().prop_map(Verb::Delete),
        3 => Just(Verb::Work),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn pat_ix_1_2_lists_name_the_same_entities_in_releases_with_different_orders_of_fields(
        beyond in prop::sample::select(vec![1_usize, usize::MAX, usize::MAX]),
        verbs in prop::collection::vec((0..2_usize, verb()), 1..25),
    ) {
        let world = world(beyond);
        let release = |number: usize| &world.releases[number];
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
        for release in &world.releases {
            assert_eq!(release.findings(), []);
        }
    }
}

fn places() -> impl Iterator<Item = [&'static str; 3]> {
    let both = || ["a", "b"].into_iter();
    both().flat_map(move |country| both().flat_map(move |city| both().map(move |tag| [country, city, tag])))
}
