//! Creates a workload that can be run from a workload file and one of its layouts.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_core::query::{QueryClass, TextRange};
use table_core::{Error, Result};

use crate::distribution::Distribution;
use crate::draw::Draw;
use crate::fault::WorkloadFault;
use crate::file::described::{Described, Field, Layout, Read, Write};
use crate::file::key::{self, Drawn};
use crate::step::{Step, load, pages, partition_of};
use crate::workload::Workload;

/// The source of the values of one field.
enum Source {
    Number(Distribution),
    Text(Distribution, Vec<String>),
    Time,
}

/// The sources, sorted by field name.
///
/// Each operation uses all sources, even if its layout does not need them. An operation therefore has the same values in all layouts.
type Sources = BTreeMap<String, Source>;

pub(super) fn workload(described: &Described, layout: &Layout) -> Result<Workload> {
    let mut sources = Sources::new();
    for (name, field) in &described.fields {
        let found = source(field).map_err(|fault| Error::of(fault.of_field(name)))?;
        sources.insert(name.clone(), found);
    }
    let (sources, layout) = (Arc::new(sources), Arc::new(layout.clone()));
    let mut workload = Workload::new(format!("{}, {}", described.name, layout.name))
        .seed(described.seed)
        .seconds(described.seconds)
        .start(described.started()?);
    for pattern in &described.patterns {
        let (sources, layout, entities) = (sources.clone(), layout.clone(), described.entities);
        let (write, read, name) = (pattern.write.clone(), pattern.read.clone(), pattern.name.clone());
        let table = described.table.clone();
        workload = workload.pattern(&pattern.name, pattern.per_second, move |draw| {
            let values = draw_all(&sources, draw);
            let mut step = match (&write, &read) {
                (Some(write), _) => write_step(&layout, write, &values),
                (_, Some(read)) => read_step(&layout, read, (entities, table.as_deref()), &values),
                (None, None) => Err(Error::of(WorkloadFault::Kind(name.clone()))),
            }?;
            for (partition, _) in &mut step.touches {
                if let Some(table) = &table {
                    *partition = partition_of(table, partition);
                }
            }
            Ok(step)
        });
    }
    Ok(workload)
}

fn source(field: &Field) -> Result<Source, WorkloadFault> {
    Ok(match field {
        Field::Uniform(values) => Source::Number(Distribution::try_uniform(*values)?),
        Field::Zipf { values, exponent } => Source::Number(Distribution::try_zipf(*values, *exponent)?),
        Field::Constant(value) => Source::Number(Distribution::constant(*value)),
        Field::Sequence => Source::Number(Distribution::sequence()),
        Field::Texts(texts) => Source::Text(Distribution::try_uniform(texts.len() as u64)?, texts.clone()),
        Field::Time => Source::Time,
    })
}

fn draw_all(sources: &Sources, draw: &mut Draw<'_>) -> BTreeMap<String, Drawn> {
    let one = |(name, source): (&String, &Source)| {
        let drawn = match source {
            Source::Number(distribution) => Drawn::Number(draw.of(distribution)),
            Source::Text(distribution, texts) => {
                let place = usize::try_from(draw.of(distribution)).unwrap_or_default();
                Drawn::Text(texts.get(place).cloned().unwrap_or_default())
            }
            Source::Time => Drawn::Time(draw.instant()),
        };
        (name.clone(), drawn)
    };
    sources.iter().map(one).collect()
}

fn write_step(layout: &Layout, write: &Write, values: &BTreeMap<String, Drawn>) -> Result<Step> {
    // The RowKey is computed only to report an invalid one. The step itself needs only the partition.
    key::text(&layout.row_key, values)?;
    let entities = write.copies.saturating_add(1);
    let bytes = entities.saturating_mul(write.bytes);
    let touches = vec![(key::text(&layout.partition_key, values)?, entities)];
    Ok(Step { class: None, reads: 0, writes: 1, entities, bytes, touches, ranges: Vec::new() })
}

/// Returns a query of a table with `entities` entities. If the table has no name, a query over several partitions adds no load to a container.
fn read_step(
    layout: &Layout,
    read: &Read,
    (entities, table): (u64, Option<&str>),
    values: &BTreeMap<String, Drawn>,
) -> Result<Step> {
    let class = key::class(layout, &read.given);
    let looked_at = match class {
        QueryClass::Point => 1,
        QueryClass::Range => read.rows,
        QueryClass::PartitionScan => layout.entities_a_partition.max(read.rows),
        QueryClass::PartitionRange | QueryClass::FanOut(_) | QueryClass::TableScan => entities.max(read.rows),
    };
    let (mut touches, mut ranges) = (Vec::new(), Vec::new());
    if class <= QueryClass::PartitionScan {
        touches.push((key::text(&layout.partition_key, values)?, load(pages(looked_at))));
    } else if let Some(table) = table {
        let known = key::known(&layout.partition_key, &read.given);
        ranges.push((table.to_owned(), TextRange::prefix(&key::text(known, values)?)));
    }
    let bytes = read.rows.saturating_mul(read.bytes);
    let (reads, entities) = (pages(looked_at), looked_at);
    Ok(Step { class: Some(class), reads, writes: 0, entities, bytes, touches, ranges })
}
