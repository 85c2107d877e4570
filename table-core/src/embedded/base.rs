//! The base: the rows of the last checkpoint, in blocks, in a redb database. Only this file and those below it know redb.

mod backend;
mod block;
mod cache;
mod cursor;
mod meta;
mod rows;

use std::ops::Bound;
use std::sync::Arc;

use redb::{Database, ReadOnlyTable, ReadableDatabase, TableDefinition, WriteTransaction};

use crate::embedded::disk::DiskFile;
use crate::embedded::key::Span;
use crate::error::{Error, ErrorCode, Result};
use crate::row::Row;

use backend::Backend;
use cache::{Block, Cache, Found};
pub(crate) use cursor::BaseCursor;
pub(crate) use meta::Meta;
pub(crate) use rows::{BaseRows, Change};

const ROWS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("rows");
const META: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("meta");

fn failed(error: impl Into<redb::Error>) -> Error {
    let error = error.into();
    let code = match &error {
        redb::Error::Corrupted(_) => ErrorCode::Corrupted,
        redb::Error::Io(_) | redb::Error::PreviousIo => ErrorCode::Io,
        redb::Error::DatabaseClosed => ErrorCode::EngineClosed,
        _ => ErrorCode::InternalError,
    };
    Error::new(code, format!("the base cannot be read or written: {error}")).with_source(error)
}

/// The database.
#[derive(Debug)]
pub(crate) struct Base {
    database: Database,
    /// Shared with every view, to know whether there are any.
    views: Arc<()>,
    /// Bytes of blocks that a view holds.
    block_bytes: usize,
}

impl Base {
    /// Opens the database in a file, or makes one in an empty file.
    pub(crate) fn open(file: Arc<dyn DiskFile>, cache_bytes: usize) -> Result<Self> {
        // Half for pages of the tree, half for blocks that look-ups have found.
        let block_bytes = cache_bytes / 2;
        let database = Database::builder()
            .set_cache_size(cache_bytes - block_bytes)
            .create_with_backend(Backend(file))
            .map_err(failed)?;
        Ok(Self { database, views: Arc::new(()), block_bytes })
    }

    /// Writes what a checkpoint needs before its first view, in a base that was just made.
    pub(crate) fn initialize(&self, meta: &Meta) -> Result<()> {
        self.begin()?.commit(meta)
    }

    /// What the last commit recorded.
    pub(crate) fn meta(&self) -> Result<Meta> {
        let transaction = self.database.begin_read().map_err(failed)?;
        let table = transaction.open_table(META).map_err(failed)?;
        Meta::read(|name| Ok(table.get(name).map_err(failed)?.map(|value| value.value().to_vec())))
    }

    /// The rows as of the last commit. It pins the pages it sees: published states are short-lived, snapshots are the user's.
    pub(crate) fn view(&self) -> Result<BaseView> {
        let transaction = self.database.begin_read().map_err(failed)?;
        let rows = Arc::new(transaction.open_table(ROWS).map_err(failed)?);
        let blocks = Arc::new(Cache::new(self.block_bytes));
        Ok(BaseView { rows, blocks, _of: Arc::clone(&self.views) })
    }

    /// Whether any view is open. Once the base is dropped, views fail with `EngineClosed`.
    pub(crate) fn has_views(&self) -> bool {
        Arc::strong_count(&self.views) > 1
    }

    /// Begins a change of the base. Waits for no one: the checkpoint thread is the only writer.
    pub(crate) fn begin(&self) -> Result<BaseWriter> {
        let mut transaction = self.database.begin_write().map_err(failed)?;
        // Reopening after a crash takes no walk over the whole file.
        transaction.set_quick_repair(true);
        Ok(BaseWriter(transaction))
    }

    /// Moves pages to the front of the file and cuts it. No view may be open.
    pub(crate) fn compact(&mut self) -> Result<()> {
        self.database.compact().map(drop).map_err(failed)
    }
}

/// One durable change of the base; dropped without a commit it leaves no trace.
pub(crate) struct BaseWriter(WriteTransaction);

impl BaseWriter {
    /// The rows, to be changed.
    pub(crate) fn rows(&self) -> Result<BaseRows<'_>> {
        self.0.open_table(ROWS).map(BaseRows).map_err(failed)
    }

    /// Makes the change and the record of it durable together.
    pub(crate) fn commit(self, meta: &Meta) -> Result<()> {
        {
            let mut table = self.0.open_table(META).map_err(failed)?;
            self.0.open_table(ROWS).map_err(failed)?;
            for (name, value) in meta.write() {
                table.insert(name, value.as_slice()).map_err(failed)?;
            }
        }
        self.0.commit().map_err(failed)
    }
}

/// The rows of one commit. Cloning is O(1).
#[derive(Clone)]
pub(crate) struct BaseView {
    rows: Arc<ReadOnlyTable<&'static [u8], &'static [u8]>>,
    blocks: Arc<Cache>,
    _of: Arc<()>,
}

impl BaseView {
    /// One row.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Row>> {
        if let Found::Row(row) = self.blocks.get(key)? {
            return Ok(row);
        }
        let from = (Bound::Included(key), Bound::Unbounded);
        let found = self.rows.range::<&[u8]>(from).map_err(failed)?.next();
        let Some((largest, bytes)) = found.transpose().map_err(failed)? else { return Ok(None) };
        let block = Block::read(bytes)?;
        let found = block.get(largest.value(), key)?;
        self.blocks.insert(largest.value().to_vec(), block);
        Ok(match found {
            Found::Row(row) => row,
            Found::Unknown => None,
        })
    }

    /// The rows of a span.
    pub(crate) fn range(&self, span: &Span) -> Result<BaseCursor> {
        let from = (Bound::Included(span.start.as_slice()), Bound::Unbounded);
        let blocks = self.rows.range::<&[u8]>(from).map_err(failed)?;
        BaseCursor::new(blocks, &span.start, span.end.clone())
    }
}
