//! Tests the table layouts of published programs.
//!
//! For each layout, the tests take a key that the program has written. It must be the key of the entity, and must be decoded to the entity. The tests also run
//! the queries of the program. The comments cite the repository, file, class or function from which the layout was taken.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clusters;
mod counted;
mod days;
mod diagnostics;
mod encoded;
mod forms_of_ids;
mod forms_of_texts;
mod forms_of_times;
mod hosts;
mod identity;
mod journeys;
mod logs;
mod messaging;
mod names;
mod one_line;
mod orchestrations;
mod packages;
mod runs;
mod sinks;
mod streams;
mod timelines;
mod trackers;

use std::fmt::Debug;

use chrono::{DateTime, Utc};
use table_core::query::EntityRef;
use table_core::{Entity, EntityKey, FromEntity};

pub(crate) fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Checks that `key` is the key of the entity. If another program has stored a row under this key, it must be read as the entity.
pub(crate) fn both_ways<E: Entity + FromEntity + PartialEq + Debug>(entity: &E, key: (&str, &str)) {
    let literal = EntityKey::new(key.0, key.1).unwrap();
    assert_eq!(entity.key_of().unwrap(), literal);
    let row = entity.to_row().unwrap();
    let stored = EntityRef::new(key.0, key.1, row.view());
    assert_eq!(E::from_entity(stored).unwrap(), *entity);
}

/// Creates an in-memory table that contains the given entities.
macro_rules! stored {
    ($type:ty, [$($entity:expr),+ $(,)?]) => {{
        let table = Engine::in_memory().table::<$type>().create_if_missing().await.unwrap();
        for entity in [$($entity),+] {
            table.insert(&entity).await.unwrap();
        }
        table
    }};
}
pub(crate) use stored;
