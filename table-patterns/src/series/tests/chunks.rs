//! Tests a series whose entity has a chunked property. Merges of such entities are refused, but a merge of slots changes no chunk.

use pollster::block_on;
use table_core::{Engine, Entity, Error};

use crate::EntityStore;
use crate::series::{HOURS, Series, SeriesTable};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Days")]
#[partition_key(user)]
#[row_key("day_", number)]
struct Day {
    user: String,
    #[digits(4)]
    number: u32,
    #[property(chunks)]
    note: Option<String>,
}

impl Series for Day {
    type Value = i64;
    const SLOTS: &'static [&'static str] = HOURS;
}

#[test]
fn slots_are_set_next_to_a_property_in_chunks() {
    block_on(async {
        let days = Engine::in_memory().entities::<Day>().create_if_missing().await?;
        let series = SeriesTable::new(days.clone());
        let long = "n".repeat(70_000);
        for (number, note) in [(1, None), (2, Some(long.clone()))] {
            let first = Day { user: "ada".into(), number, note: note.clone() };
            // A later note does not replace the stored one.
            let later = Day { note: Some("other".into()), ..first.clone() };
            series.set(&first, 3, 1).await?;
            series.set(&later, 4, 2).await?;
            assert_eq!(series.increment(&later, 3, 5).await?, 6);
            let stored = series.get(Day::key("ada", number)).await?.unwrap();
            assert_eq!((&stored.entity, stored.slot(3), stored.slot(4)), (&first, Some(&6), Some(&2)));
        }
        let new = |number| Day { user: "ada".into(), number, note: Some(long.clone()) };
        assert_eq!(series.increment(&new(3), 3, 5).await?, 5);
        let mut unit = days.unit(Day::partition("ada"))?;
        unit.set_slots(&new(1), [(5, 9)]).await?.set_slots(&new(4), [(6, 1)]).await?;
        assert_eq!(unit.increment(&new(4), &[(6, 1)]).await?, [2]);
        unit.commit().await?;
        for (number, note, slot, value) in [(1, None, 5, 9), (3, Some(&long), 3, 5), (4, Some(&long), 6, 2)] {
            let stored = series.get(Day::key("ada", number)).await?.unwrap();
            assert_eq!((stored.entity.note.as_ref(), stored.slot(slot)), (note, Some(&value)));
        }
        Ok::<_, Error>(())
    })
    .unwrap();
}
