//! Backs up the rows of any store. Compares them with the previous generation in key order, and writes the differences.

use std::time::{Duration, Instant};

use chrono::Utc;
use table_core::query::KeyRange;
use table_core::{DynTableStore, Query, TableName, TableStore};

use crate::backup::generation::{Changes, Consistency, Generation, Layer, TableRows};
use crate::backup::layer::{LayerWriter, Record};
use crate::backup::merged::Merged;
use crate::backup::repository::Repository;
use crate::backup::work::{Work, new_file};
use crate::failure::{Failure, Result};
use crate::progress;
use crate::rate::Rate;
use crate::rows::{self, Pages};
use crate::transfer::checksum::Checksum;
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::ordered::Ordered;
use crate::transfer::stored::{self, Stored};

/// The maximum number of passes that `--settle` makes over a table after the first pass.
const PASSES: u32 = 4;

/// The options of a backup.
#[derive(Clone, Debug)]
pub struct CaptureOptions {
    /// `true` to read each table repeatedly until a pass finds no differences.
    pub settle: bool,
    /// `true` if the store's queries return a snapshot that is unaffected by concurrent writes.
    pub is_snapshot: bool,
    /// The maximum number of rows read per second.
    pub rate: Option<u32>,
    /// The minimum time between two updates of the progress file within a table.
    pub pause: Duration,
    /// The maximum number of rows in a page.
    pub page: usize,
    /// Once a table has this many layers, its next layer contains all rows instead of only the changes.
    pub layers: usize,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        let pause = Duration::from_millis(500);
        Self { settle: false, is_snapshot: false, rate: None, pause, page: 1_000, layers: 8 }
    }
}

/// The result of a backup.
#[derive(Debug)]
pub struct Captured {
    /// The new generation.
    pub generation: Generation,
    /// `true` if the backup continued an unfinished generation.
    pub is_resumed: bool,
    /// The number of files that were deleted because no generation refers to them, or the reason why they were kept.
    pub collected: Result<u64>,
}

/// Backs up all tables of a store as a new generation.
///
/// # Errors
/// `Refused` if the store does not return rows in key order. Any error from the store or the folder. A later call continues the backup.
pub async fn capture(
    repository: &Repository,
    store: &DynTableStore,
    options: &CaptureOptions,
) -> Result<Captured> {
    if !store.capabilities().ordered {
        let message =
            "the store does not return rows in key order, which a backup needs; use `tables export`";
        return Err(Failure::Refused(message.to_owned()));
    }
    let base = repository.newest()?;
    let mut work = Work::open(repository, base.as_ref(), Utc::now())?;
    let is_resumed = work.is_resumed;
    let capture = Capture { repository, store, options, rate: options.rate.map(Rate::new) };
    let mut names = Vec::new();
    for name in rows::all_tables(store).await? {
        if !work.has(name.as_str()) {
            let base = base.as_ref().and_then(|base| base.table(name.as_str()));
            match capture.table(&name, base, &mut work).await {
                // The table was deleted after the list of tables was read.
                Err(Failure::Store(error)) if error.is_table_not_found() => continue,
                Err(Failure::Store(error)) if is_recreated(&error) => {
                    work.restart_table()?;
                    let table = capture.table(&name, base, &mut work).await?;
                    work.complete(table)?;
                }
                table => work.complete(table?)?,
            }
        }
        names.push(name.as_str().to_owned());
    }
    let mut from = 0;
    while let Some((at, table)) = work.unsettled(from).filter(|_| options.settle) {
        from = at + 1;
        match capture.settle(table, &work.id()).await {
            Err(Failure::Store(error)) if error.is_table_not_found() || is_recreated(&error) => {}
            table => work.replace(at, table?)?,
        }
    }
    let generation = work.commit(repository, &names, Utc::now())?;
    let collected = repository.collect();
    Ok(Captured { generation, is_resumed, collected })
}

/// Returns `true` if an error means that the table was deleted and created again after the previous page was read, so the continuation token is invalid.
fn is_recreated(error: &table_core::Error) -> bool {
    error.rule() == Some("PAGE-9")
}

/// The state that is shared by the backups of all tables.
struct Capture<'a> {
    repository: &'a Repository,
    store: &'a DynTableStore,
    options: &'a CaptureOptions,
    rate: Option<Rate>,
}

impl Capture<'_> {
    /// Returns the pages of a table, read at the backup's rate. The repository's lock is not renewed while the rate limit delays the next page, so each page is
    /// limited to one second's worth of rows.
    fn pages<'p>(&'p self, name: &'p TableName) -> Pages<'p> {
        let rate = self.options.rate.and_then(|rate| usize::try_from(rate.max(1)).ok());
        let top = rate.map_or(self.options.page, |rate| self.options.page.min(rate));
        let query = Query { top: Some(top), ..Query::new(KeyRange::ALL) };
        Pages::new(self.store, name, query).at_rate(self.rate.as_ref())
    }

    /// Returns `true` if the next layer must contain all rows of the table. This is the case if the table has no layers or too many layers, or if its later
    /// layers are too large.
    fn is_full(&self, base: Option<&TableRows>) -> bool {
        let Some((first, later)) = base.and_then(|base| base.layers.split_first()) else { return true };
        let changed: u64 = later.iter().map(|layer| layer.end.bytes).sum();
        later.len() + 1 >= self.options.layers || changed > first.end.bytes
    }

    /// Backs up one table. Continues from the recorded progress, if any.
    async fn table(&self, name: &TableName, base: Option<&TableRows>, work: &mut Work) -> Result<TableRows> {
        let mut current = work.current(name.as_str());
        let is_full = *current.is_full.get_or_insert_with(|| self.is_full(base));
        let is_continued = current.last.is_some();
        let file = current.file.get_or_insert_with(|| new_file(name.as_str(), &work.id())).clone();
        let (storage, path) = (&**self.repository.storage(), self.repository.layer(&file));
        let mut layer = LayerWriter::resume(storage, &path, current.mark.clone())?;
        let from = current.continuation.as_deref().map(str::parse).transpose()?;
        let source = Ordered::new(self.pages(name).behind(from))?;
        let target = Merged::open(self.repository, base)?.behind(current.last_key()?);
        let mut comparison = Comparison::new(source, target);
        // IMPORTANT: the rows before the recorded position count as well, because the last page before it may have omitted the next row of the base.
        let before = current.omitted;
        let (mut saved, bar) = (Instant::now(), progress::rows("backed up"));
        while let Some(compared) = comparison.next().await? {
            current.omitted = before + comparison.source().omitted();
            let compared = self.confirmed(name, compared, current.omitted).await?;
            let key = compared.key();
            current.last = Some((key.partition_key.as_str().to_owned(), key.row_key.as_str().to_owned()));
            add(compared, is_full, &mut layer, &mut current.changes, &mut current.checksum)?;
            let Some(token) = comparison.settled_source().and_then(Ordered::continuation) else { continue };
            bar.set_position(current.checksum.count);
            if saved.elapsed() >= self.options.pause {
                current.continuation = Some(token.to_string());
                current.mark = layer.sync()?;
                work.advance(current.clone())?;
                saved = Instant::now();
            }
        }
        current.omitted = before + comparison.source().omitted();
        bar.finish_and_clear();
        let end = layer.sync()?;
        let mut layers =
            if is_full { Vec::new() } else { base.map_or_else(Vec::new, |base| base.layers.clone()) };
        layers.append(&mut current.parts);
        // A table without rows still gets an empty layer.
        if layers.is_empty() || end.rows > 0 {
            layers.push(Layer { file, end });
        }
        // IMPORTANT: if the backup of the table was continued, it is not a snapshot, because an earlier command read the table's first rows at a different
        // time.
        let is_snapshot = self.options.is_snapshot && !is_continued;
        let consistency = if is_snapshot { Consistency::OneMoment } else { Consistency::Pages };
        Ok(TableRows {
            name: name.as_str().to_owned(),
            layers,
            rows: current.checksum.count,
            checksum: current.checksum.to_string(),
            changes: current.changes,
            consistency,
            omitted: current.omitted,
        })
    }

    /// Returns the difference of a row. A row that only the base contains may also have been omitted by the page, so its key is read if pages of the table omit
    /// rows. If the row exists but cannot be read, the version in the base is kept.
    async fn confirmed(&self, name: &TableName, compared: Compared, omitted: u64) -> Result<Compared> {
        let base = match compared {
            Compared::Extra(base) if omitted > 0 => base,
            compared => return Ok(compared),
        };
        if let Some(rate) = &self.rate {
            rate.ready().await;
            rate.count(1);
        }
        // Reads by key do not renew the lock.
        self.repository.storage().keep_lock()?;
        Ok(match stored::read(self.store, name, base.key(), true).await? {
            Stored::Missing => Compared::Extra(base),
            Stored::Entity(entity) => Compared::both(entity, base),
            Stored::Unreadable => Compared::Same(base),
        })
    }

    /// Compares a table with its backup in repeated passes, until a pass finds no differences. Each pass backs up the changes since the previous one.
    ///
    /// If a pass finds no differences, it has read the same rows as the previous pass, so at some time between the two passes, the table contained exactly
    /// these rows.
    async fn settle(&self, mut table: TableRows, id: &str) -> Result<TableRows> {
        let name = TableName::new(table.name.as_str())?;
        for _ in 0..PASSES {
            let file = new_file(name.as_str(), id);
            let (storage, path) = (&**self.repository.storage(), self.repository.layer(&file));
            let mut layer = LayerWriter::create(storage, &path)?;
            let source = Ordered::new(self.pages(&name))?;
            let mut comparison = Comparison::new(source, Merged::open(self.repository, Some(&table))?);
            let (mut changes, mut checksum) = (Changes::default(), Checksum::default());
            let mut confirmed = Instant::now();
            while let Some(compared) = comparison.next().await? {
                let compared = self.confirmed(&name, compared, comparison.source().omitted()).await?;
                add(compared, false, &mut layer, &mut changes, &mut checksum)?;
                // Writes renew the lock, but equal rows are not written, so the lock must be renewed explicitly.
                if confirmed.elapsed() >= self.options.pause {
                    storage.keep_lock()?;
                    confirmed = Instant::now();
                }
            }
            table.omitted = comparison.source().omitted();
            let end = layer.sync()?;
            if end.rows == 0 {
                storage.remove(&path)?;
                table.consistency = Consistency::OneMoment;
                break;
            }
            table.changes.settled += end.rows;
            table.layers.push(Layer { file, end });
            (table.rows, table.checksum) = (checksum.count, checksum.to_string());
        }
        Ok(table)
    }
}

/// Records in a layer how a row differs from the previous layers. A full layer contains all rows, and any other layer contains only the differences.
fn add(
    compared: Compared,
    is_full: bool,
    layer: &mut LayerWriter,
    changes: &mut Changes,
    checksum: &mut Checksum,
) -> Result<()> {
    let is_same = compared.is_same();
    let entity = match compared {
        Compared::Extra(entity) => {
            changes.deleted += 1;
            return if is_full { Ok(()) } else { layer.push(&Record::Delete(entity.key().clone())) };
        }
        Compared::Same(entity) => entity,
        Compared::Missing(entity) => {
            changes.added += 1;
            entity
        }
        Compared::Changed { source, .. } => {
            changes.changed += 1;
            source
        }
    };
    checksum.add(&entity);
    if is_full || !is_same { layer.push(&Record::Put(entity)) } else { Ok(()) }
}
