//! Measures entities with two indexes in the same partition. Compares inserts with inserts of plain entities, and lookups through an index with point gets.

use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{Entity, Versioned};
use table_patterns::Entities;
use table_patterns::EntityStore;

use crate::Outcome;
use crate::data::Reading;
use crate::harness::{Contender, alternate, crowd, repeat_busy};
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{OURS, Report, Target};
use crate::stage::Stage;

/// The number of entities in the table read by lookups.
const ENTITIES: u32 = 100_000;
const WRITERS: usize = 16;
const PLAIN: &str = "plain entities";
const POINT: &str = "point get";

/// A reading with two indexes. Each index copies it to a row with a different key.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Tagged")]
#[partition_key(site)]
#[row_key("reading_", number)]
#[index(ByTag, unique, row_key("tag_", tag))]
#[index(ByLevel, row_key("level_", level, "_", number))]
struct Tagged {
    site: String,
    number: u32,
    tag: String,
    operator: String,
    quantity: String,
    remark: String,
    level: i32,
    retries: i32,
    total: i64,
    value: f64,
    valid: bool,
    at: DateTime<Utc>,
}

impl Tagged {
    fn of(reading: Reading) -> Self {
        Self {
            tag: tag(reading.number),
            site: reading.site,
            number: reading.number,
            operator: reading.operator,
            quantity: reading.quantity,
            remark: reading.remark,
            level: reading.level,
            retries: reading.retries,
            total: reading.total,
            value: reading.value,
            valid: reading.valid,
            at: reading.at,
        }
    }
}

fn tag(number: u32) -> String {
    format!("dev-{number:08x}")
}

/// Measures inserts and lookups and adds the ratios to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let engine = Engine::open(stage.folder.join("indexed"))?;
    let tagged = block_on(engine.entities::<Tagged>().create_if_missing())?;
    let plain = Tables::of(&engine)?;
    let entities = stage.options.entities.min(ENTITIES);
    let all: Vec<Tagged> = (0..entities).map(|index| Tagged::of(Reading::at(index))).collect();
    block_on(tagged.bulk().insert_all(&all))?;
    plain.load(entities)?;
    look_ups(stage, report, &tagged, &all)?;
    let inserts = vec![
        Contender::new(PLAIN, |time| crowd(WRITERS, time, || plain.insert(stage.fresh()))),
        Contender::new(OURS, |time| {
            crowd(WRITERS, time, || {
                block_on(tagged.insert(&Tagged::of(stage.fresh())))?;
                Ok(())
            })
        }),
    ];
    let figures = alternate(inserts, stage.options.rounds, stage.options.time * 2)?;
    let work = format!("durable insert with two indexes, {WRITERS} writers");
    report.compare(&work, &figures, &[(PLAIN, Target::AtLeast(1.0 / 2.5))]);
    Ok(())
}

fn look_ups(
    stage: &Stage,
    report: &mut Report,
    tagged: &Entities<Tagged, Engine>,
    all: &[Tagged],
) -> Outcome<()> {
    // After this checkpoint, lookups read from the base, as they do in a long-lived store.
    block_on(tagged.table().store().checkpoint())?;
    let turn = AtomicU64::new(0);
    // This step size reaches every entity, in an order that defeats caching.
    let next = || {
        let turn = usize::try_from(turn.fetch_add(1, Ordering::Relaxed)).unwrap_or_default();
        all.get(turn * 7_919 % all.len()).ok_or("there are no entities")
    };
    let found = |found: Option<Versioned<Tagged>>| found.ok_or("the entity is gone");
    let contenders = vec![
        Contender::new(OURS, |time| {
            repeat_busy(time, 64, || {
                let wanted = next()?;
                Ok(found(block_on(tagged.get(Tagged::by_tag(wanted.site.as_str(), wanted.tag.as_str())))?)?)
            })
        }),
        Contender::new(POINT, |time| {
            repeat_busy(time, 64, || {
                let wanted = next()?;
                Ok(found(block_on(tagged.get(Tagged::key(wanted.site.as_str(), wanted.number)))?)?)
            })
        }),
    ];
    let figures = alternate(contenders, stage.options.rounds, stage.options.time)?;
    report.compare("look-up through an index", &figures, &[(POINT, Target::AtLeast(0.9))]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PARTITION;

    #[test]
    fn a_partition_has_each_tag_once() {
        let mut tags: Vec<_> = (0..PARTITION).map(|index| Tagged::of(Reading::at(index)).tag).collect();
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), PARTITION as usize);
    }
}
