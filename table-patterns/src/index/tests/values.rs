//! Tests values that have several encodings: JSON of maps, JSON of structs in two releases, NaN, and zero. Index rows contain the stored values of their
//! entities, so no program compares its own encoding with that of another program.

use std::collections::HashMap;

use pollster::block_on;
use proptest::prelude::*;
use table_core::bag::TableEntity;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::Select;
use table_core::queue::QueueName;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::{Entity, ErrorCode, Result, Value};

use crate::EntityStore;
use crate::index::{EntryFingerprint, RemoteChange};
use crate::outbox::{BacklogCounts, Outbox};
use crate::series::Series;
use crate::tests::faults::{Fault, FaultyStore};
use crate::work::{Runtime, Worker};

#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(Clone, Debug, Entity)]
#[entity(table = "Readings", crate = table_core)]
#[partition_key(station)]
#[row_key("no_", id)]
#[index(ByDay, row_key("day_", day, "_", id))]
#[index(Days, table = "Days", partition_key(day), row_key(station, "_", id))]
struct Reading {
    station: String,
    #[digits(2)]
    id: u8,
    #[digits(3)]
    day: u16,
    mean: f64,
    visits: i32,
    #[property(json)]
    tags: HashMap<u8, u8>,
}

impl Series for Reading {
    type Value = i64;
    const SLOTS: &'static [&'static str] = crate::slot_names!("Hour", 0, 3);
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<u64>().prop_map(f64::from_bits), Just(f64::NAN), Just(-f64::NAN), Just(-0.0), Just(1.5)]
}

fn reading() -> impl Strategy<Value = Reading> {
    let tags = prop::collection::hash_map(any::<u8>(), any::<u8>(), 0..12);
    (0..4_u8, 0..3_u16, number(), tags).prop_map(|(id, day, mean, tags)| Reading {
        station: "S".into(),
        id,
        day,
        mean,
        visits: 0,
        tags,
    })
}

type Store = FaultyStore<Engine>;

/// Makes all requests after the next 3,000 fail.
fn bound(store: &Store) {
    store.script(|_, at| if at < 3_000 { Fault::None } else { Fault::Before(ErrorCode::ServerBusy) });
}

fn outbox(store: &Store) -> Result<Outbox<Store, Engine>> {
    let pace = Runtime::new().sleep_by(|_| Box::pin(async {}));
    Ok(Outbox::with_runtime(store.clone(), Engine::in_memory(), QueueName::new("readings")?, pace))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn index_rows_contain_the_stored_values(
        readings in prop::collection::vec((reading(), 0..8), 1..8),
        is_canonical in any::<bool>(),
    ) {
        block_on(async {
            let store = FaultyStore::new(Engine::in_memory());
            let store = if is_canonical { store.sorting_properties() } else { store };
            bound(&store);
            let outbox = outbox(&store)?;
            outbox.create_queues().await?;
            let table = store.entities_with_outbox::<Reading, _>(outbox.clone()).create_if_missing().await?;
            for (reading, verb) in readings {
                let key = Reading::key("S", reading.id);
                let written = match verb {
                    0 => table.insert_or_replace(&reading).await.map(drop),
                    1 => table.update(key, |now| now.mean = reading.mean).await.map(drop),
                    2 => table.update(key, |now| now.visits += 1).await.map(drop),
                    3 => table.bulk().insert_or_replace_all([&reading]).await.map(drop).map_err(|error| error.source),
                    4 | 6 => {
                        let change = table.transaction(Reading::partition("S"), async |unit| {
                            if let Some(found) = unit.get(key.clone()).await? {
                                unit.update(&found, |now| now.visits += i32::from(verb == 4))?;
                            }
                            Ok::<_, table_core::Error>(())
                        });
                        change.await.map(drop)
                    }
                    5 => {
                        let change = table.transaction(Reading::partition("S"), async |unit| {
                            unit.increment(&reading, &[(1, 1)]).await?;
                            Ok::<_, table_core::Error>(())
                        });
                        change.await.map(drop)
                    }
                    _ => table.patch(key).set(Reading::MEAN, reading.mean).send().await.map(drop),
                };
                match written {
                    Err(error) if error.code() != ErrorCode::ResourceNotFound => return Err(error),
                    _ => {}
                }
            }
            Worker::new(outbox.clone()).with_index_handler(&table).run_until_idle().await?;
            assert_eq!(outbox.backlog().await?, BacklogCounts { waiting: 0, poison: 0 });
            let checked = table.check().run().await?;
            assert!(checked.is_clean(), "{checked:?}");
            table.rebuild::<ReadingByDay>().await?;
            table.rebuild::<ReadingDays>().await?;
            let by_day = table.backfill::<ReadingByDay>().assume_no_older_programs().run().await?;
            let days = table.backfill::<ReadingDays>().assume_no_older_programs().run().await?;
            assert_eq!([by_day.repaired, days.repaired], [0, 0]);
            Ok(())
        }).unwrap();
    }

    #[test]
    fn a_repair_of_any_value_ends(readings in prop::collection::vec(reading(), 1..8)) {
        block_on(async {
            let store = FaultyStore::new(Engine::in_memory());
            let table = store.entities_with_outbox::<Reading, _>(outbox(&store)?).create_if_missing().await?;
            for reading in &readings {
                table.insert_or_replace(reading).await?;
            }
            // Another tool changes the copy, or removes it.
            for reading in &readings {
                let Reading { id, day, .. } = reading;
                let copy = EntityKey::new("S", &*format!("day_{day:03}_{id:02}"))?;
                if store.get(&TableName::new("Readings")?, &copy, &Select::All).await?.is_some() {
                    let now = TableEntity::new("S", copy.row_key.as_str())?.with("Visits", 7_i32);
                    store.untyped("Readings")?.insert_or_merge(&now).await?;
                }
            }
            bound(&store);
            table.check().repair().run().await?;
            assert!(table.check().run().await?.is_clean());
            Ok::<_, table_core::Error>(())
        }).unwrap();
    }
}

/// Declares a release of the program. The argument is the struct in its JSON property.
macro_rules! release {
    ($release:ident: $($field:tt)*) => {
        mod $release {
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            pub(super) struct Address { $($field)* pub(super) city: String }

            #[derive(Clone, Debug, PartialEq, table_core::Entity)]
            #[entity(table = "Guests", crate = table_core)]
            #[partition_key(hotel)]
            #[row_key("no_", id)]
            #[index(Cards, table = "Cards", partition_key("cards"), row_key(hotel, "_", id), include(address))]
            pub(super) struct Guest {
                pub(super) hotel: String,
                pub(super) id: u32,
                #[property(json)]
                pub(super) address: Address,
                pub(super) visits: i32,
            }
        }
    };
}

release!(first:);
release!(second: #[serde(default)] pub(super) land: u8,);

/// Tests that a worker settles the changes of an earlier release although its own release encodes a property differently. It must do so even after a write to
/// other properties.
#[test]
fn a_worker_with_another_encoding_writes_the_entry() {
    for writes in 0..3 {
        block_on(async {
            let store = FaultyStore::new(Engine::in_memory());
            let outbox = outbox(&store)?;
            outbox.create_queues().await?;
            let guests =
                store.entities_with_outbox::<first::Guest, _>(outbox.clone()).create_if_missing().await?;
            let address = first::Address { city: "Oslo".into() };
            guests.insert(&first::Guest { hotel: "H".into(), id: 1, address, visits: 0 }).await?;
            for _ in 0..writes {
                guests.update(first::Guest::key("H", 1), |guest| guest.visits += 1).await?;
            }
            let later =
                store.entities_with_outbox::<second::Guest, _>(outbox.clone()).create_if_missing().await?;
            Worker::new(outbox.clone()).with_index_handler(&later).run_until_idle().await?;
            let cards = store.untyped("Cards")?.scan("to compare").max_rows(100).collect().await?;
            let address = Value::String(r#"{"city":"Oslo"}"#.into());
            assert!(cards.iter().any(|card| card.get("Address") == Some(&address)), "{writes}: {cards:?}");
            assert!(later.check().run().await?.is_clean());
            Ok::<_, table_core::Error>(())
        })
        .unwrap();
    }
}

#[test]
fn a_change_is_read_with_the_hash_that_was_recorded() {
    let (owner, key) = (EntityKey::new("S", "no_01").unwrap(), EntityKey::new("007", "S_01").unwrap());
    let index = &Reading::SCHEMA.indexes[1];
    for fingerprint in [EntryFingerprint::Nothing, EntryFingerprint::Entry { key: key.clone(), hash: 7 }] {
        let of_index = RemoteChange::of_index(index, owner.clone(), vec![key.clone()]);
        let change = RemoteChange { fingerprint, ..of_index };
        assert_eq!(RemoteChange::parse::<Reading>(&change.recorded(Reading::SCHEMA)).unwrap(), change);
    }
}
