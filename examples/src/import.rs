//! Imports many entities into a table. Shows a progress bar on the terminal and prints one line to the output.

use std::borrow::Borrow;
use std::error::Error;
use std::io::Write;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use table_core::entity::PlainEntity;
use table_core::query::EntityRef;
use table_core::{Entity, FromEntity, IndexEntry, TableEntity, TableStoreExt};

use crate::grid::thousands;
use crate::store::Store;

/// Inserts or replaces entities. A second import of the same entities changes nothing.
///
/// # Errors
/// Any error from the store or the output.
pub async fn import<E: PlainEntity, T: Borrow<E>>(
    store: &Store,
    what: &str,
    entities: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let entities = entities.into_iter();
    let count = entities.len() as u64;
    import_many(store, what, entities, count, out).await
}

/// Inserts or replaces entities from an iterator of unknown length.
///
/// # Errors
/// Any error from the store or the output.
pub async fn import_many<E: PlainEntity, T: Borrow<E>>(
    store: &Store,
    what: &str,
    entities: impl Iterator<Item = T>,
    count: u64,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let table = store.unmetered().table::<E>().create_if_missing().await?;
    let bar = ProgressBar::new(count).with_style(style()?).with_message(what.to_owned());
    let began = Instant::now();
    let progress = bar.clone();
    table
        .bulk()
        .concurrency(64)
        .on_progress(move |progressed| progress.set_position(progressed.written as u64))
        .insert_or_replace_all(entities)
        .await?;
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    writeln!(out, "  {what:<18} {:>10} entities in {seconds:.2} s", thousands(count))?;
    Ok(())
}

/// Inserts or replaces entities and their index rows. First writes all entities, and then the rows of one index after another.
///
/// A second import of the same entities writes the same rows. Any other write to these tables must update the indexes, and must read the previous rows to do
/// so.
///
/// # Errors
/// Any error from the store or the output.
pub async fn import_indexed<E: Entity>(
    store: &Store,
    what: &str,
    entities: &[E],
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let own = |entity: &E| Ok(Some(IndexEntry { key: entity.key_of()?, row: entity.to_row()? }));
    let mut written = write_entries(store, E::SCHEMA.table, entities, own).await?;
    for index in E::INDEXES {
        let table = index.schema().table.unwrap_or(E::SCHEMA.table);
        written += write_entries(store, table, entities, |entity| index.entry(entity)).await?;
    }
    let seconds = began.elapsed().as_secs_f64();
    writeln!(out, "  {what:<18} {:>10} entities in {seconds:.2} s", thousands(written))?;
    Ok(())
}

async fn write_entries<E>(
    store: &Store,
    table: &str,
    entities: &[E],
    entry: impl Fn(&E) -> Result<Option<IndexEntry>, table_core::Error>,
) -> Result<u64, Box<dyn Error>> {
    let mut bags = Vec::with_capacity(entities.len());
    for entity in entities {
        if let Some(IndexEntry { key, row }) = entry(entity)? {
            let stored = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
            bags.push(TableEntity::from_entity(stored)?);
        }
    }
    let table = store.unmetered().untyped(table)?.create_if_missing().await?;
    table.bulk().concurrency(64).insert_or_replace_all(&bags).await?;
    Ok(bags.len() as u64)
}

fn style() -> Result<ProgressStyle, Box<dyn Error>> {
    Ok(ProgressStyle::with_template("  {msg:<18} {bar:40} {human_pos:>10}/{human_len} {per_sec} {eta}")?)
}
