//! Measures how long it takes to drop a table with many entities, compared with a table with few.
//!
//! A drop needs one sync, whose duration can vary by a factor of forty. The fastest of several drops are therefore compared. Work that grows with the number of
//! entities would slow down even the fastest drop.

use std::time::Instant;

use pollster::block_on;
use table_core::TableStoreExt;
use table_core::embedded::Engine;

use crate::Outcome;
use crate::data::Reading;
use crate::folder::settle;
use crate::harness::Figure;
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// The number of tables of each size.
const TABLES: u32 = 5;

/// Measures the drops and adds the ratio of the fastest ones to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let engine = Engine::open(stage.folder.join("drop"))?;
    let sizes =
        [("large", stage.options.entities), ("middle", stage.options.entities / 10), ("small", 1_000)];
    let mut tables = Vec::new();
    for (name, entities) in sizes {
        for turn in 0..TABLES {
            let table = engine.table_named::<Reading>(&format!("Drop{name}{turn}"))?;
            let table = Tables::in_table(block_on(table.create_if_missing())?);
            table.load(entities)?;
            tables.push((name, table));
        }
    }
    settle()?;
    let mut rates = sizes.map(|(name, _)| (name, Vec::new()));
    for turn in 0..tables.len() {
        // Drops of large, middle and small tables alternate.
        let size = turn % sizes.len();
        let index = size * TABLES as usize + turn / sizes.len();
        let (Some((name, table)), Some((_, rates))) = (tables.get(index), rates.get_mut(size)) else {
            continue;
        };
        let start = Instant::now();
        let there = block_on(table.table().delete_table())?;
        rates.push(1.0 / start.elapsed().as_secs_f64());
        if !there {
            return Err(format!("a {name} table is gone").into());
        }
    }
    let [large, middle, small] = rates.map(|(name, rates)| Figure::new(name, rates));
    let [(_, most), (_, some), (_, least)] = sizes.map(|(name, entities)| (name, short(entities.into())));
    for (size, figure) in [(most, large), (some, middle)] {
        report.compare_fastest(
            &format!("drop of a table of {size} against {least}"),
            &figure,
            &small,
            Target::AtMost(2.0),
        );
    }
    Ok(())
}
