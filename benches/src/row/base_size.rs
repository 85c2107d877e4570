//! Measures the size of the base (the engine's merged files). It is measured while random entities are replaced, and after a compaction.

use pollster::block_on;
use table_core::Entity;
use table_core::embedded::Engine;

use crate::Outcome;
use crate::data::{PARTITION, Random, Reading};
use crate::folder::bytes_of;
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::report::{Report, Target, short};
use crate::stage::Stage;

/// The number of checkpoints. Before each of them, a tenth of the entities is replaced.
const CHECKPOINTS: u32 = 30;
/// The file name suffix of the base's row files.
const BASE: &str = ".rows";
/// The number of threads that replace entities.
const WRITERS: u32 = 8;

/// Measures the size of the base after each checkpoint, and after a compaction. Adds the ratios to the report.
#[expect(clippy::cast_precision_loss, reason = "bytes are shown with three digits")]
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let (entities, folder) = (stage.small(), stage.folder.join("base-size"));
    let tables = Tables::of(&Engine::open(&folder)?)?;
    tables.load(entities)?;
    let mut logical = 0;
    for index in 0..entities {
        let (key, row) = (Reading::at(index).key_of()?, Reading::at(index).to_row()?);
        logical += key.partition_key.as_str().len() + key.row_key.as_str().len() + row.as_bytes().len();
    }
    let mut sizes = Vec::new();
    for checkpoint in 0..CHECKPOINTS {
        replace_some(&tables, entities, checkpoint)?;
        block_on(tables.table().store().checkpoint())?;
        sizes.push(bytes_of(&folder, BASE)? as f64);
    }
    block_on(tables.table().store().compact())?;
    let (compact, logical) = (bytes_of(&folder, BASE)? as f64, logical as f64);
    let tenth = sizes.get(9).copied().unwrap_or(f64::NAN);
    let most = sizes.iter().skip(10).copied().fold(0.0, f64::max);
    let shown = |bytes: f64| format!("{}B", short(bytes));
    let against = |what: &str, bytes| format!("{what} {}", shown(bytes));
    let line =
        &mut |work: &str, ours, peer, ratio, most| report.line(work, ours, peer, ratio, Target::AtMost(most));
    line(
        "largest base after the tenth checkpoint",
        shown(most),
        against("at the tenth", tenth),
        most / tenth,
        1.1,
    );
    line(
        "base after random checkpoints",
        shown(most),
        against("logical bytes", logical),
        most / logical,
        4.5,
    );
    line("base after `compact`", shown(compact), against("logical bytes", logical), compact / logical, 2.5);
    Ok(())
}

fn replace_some(tables: &Tables, entities: u32, seed: u32) -> Outcome<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|thread| {
                scope.spawn(move || -> Outcome<()> {
                    let mut random = Random::new(u64::from(seed * WRITERS + thread));
                    for _ in 0..(entities / 10 / WRITERS).max(PARTITION / WRITERS) {
                        tables.put(&Reading::at(random.below(entities)))?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a writer panicked")?)
    })
}
