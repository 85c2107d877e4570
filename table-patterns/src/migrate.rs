//! Migration: copies a table from one store to another, resumable and verified (DQ-12, PAGE-7).
//!
//! # Context
//! What was developed on the embedded engine moves to an account, or comes home from one. The stores share no transaction, the
//! way takes long, and a process may end in the middle of it.
//!
//! # Key layout
//! Keys and properties stay as they are; Timestamps and `ETag`s are the target's own (ETAG-6). The table may get another name
//! ([`Migration::into_table`]). Every row of it is copied,
//! those of an [outbox](crate::outbox) too, because nothing here knows of designs. An intent takes the Timestamp of its change along as its
//! `Version`: which of two changes was later is known at the target, too.
//!
//! # Guarantee
//! - When [`Migration::step`] says that nothing is left, every row that was in the source all the time, and was not changed, is in
//!   the target as it was.
//! - A page is first written and then counted in [`Migration::position`]. A program that stores it after each step loses nothing by
//!   an interruption at any place: the page that was under way is written again, and that changes nothing.
//! - [`Checksum`] tells two tables apart that differ in one key, one name, one type or one value, and is the same for the same rows
//!   in any order.
//! - What the target cannot hold, such as a row over its limits, is an error, never left out.
//!
//! # Cost
//! A read for each 1,000 rows; a write for each 100 rows of one partition, at least one for each partition in a page. To check is
//! to read both tables once.
//!
//! # Bounds
//! - Writers of the source are to be stopped: what is written behind the position is not seen. Then the checksums differ, and a
//!   copy from the beginning brings over what was added or changed; what was deleted meanwhile stays in the target.
//! - Rows that the target has already stay, unless they have the same keys: then they are replaced.
//! - Designs are kept in a table of their own, `TablesLayouts`: `create_if_missing` of the entity writes it at the target.
//! - A position is of one source and one table of it. That of a service is in the service's words (PAGE-8).
//!
//! # When not to
//! Between two folders of the engine: copy the folder. To follow a table that is written to: [a log](crate::log_tail) has an order
//! that can be followed. To change a layout on the way: read as the one type, write as the other.
//!
//! ```
//! use table_patterns::embedded::Engine;
//! use table_patterns::migrate::Migration;
//! use table_patterns::{TableEntity, TableName, TableStoreExt};
//!
//! # pollster::block_on(async {
//! let (home, account) = (Engine::in_memory(), Engine::in_memory());
//! let name = TableName::new("Airports")?;
//! let airports = home.untyped("Airports")?.create_if_missing().await?;
//! for code in ["GEG", "PDX", "SEA"] {
//!     airports.insert(&TableEntity::new("USA", code)?).await?;
//! }
//!
//! let begin = || Migration::new(&home, &account, name.clone()).page(2);
//! let mut copy = begin();
//! assert!(copy.step().await?); // a page of two; a third row is left
//! let stored = copy.position().to_string();
//!
//! // Another process, another day.
//! let mut copy = begin().resume(stored.parse()?)?;
//! while copy.step().await? {}
//! assert_eq!(copy.position().rows(), 3);
//! let (source, target) = copy.checksums().await?;
//! assert_eq!((source, source.rows()), (target, 3));
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod checksum;
mod fault;
mod position;
mod row;
#[cfg(test)]
mod tests;

use table_core::TableStoreExt;
use table_core::error::{Error, Result};
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::store::TableStore;

use crate::migrate::fault::PositionFault;

pub use checksum::Checksum;
pub use position::MigrationPosition;
use position::Place;
use row::Copied;

/// Partitions that are written at once.
const CONCURRENCY: usize = 8;

/// A copy of one table under way. Holds nothing open: it may be dropped after any step, or in the middle of one.
#[derive(Clone, Debug)]
pub struct Migration<S, T> {
    source: S,
    target: T,
    into: TableName,
    page: Option<usize>,
    concurrency: usize,
    position: MigrationPosition,
}

impl<S: TableStore, T: TableStore + Clone> Migration<S, T> {
    /// From the beginning of a table, into one of the same name. Nothing is sent.
    pub fn new(source: S, target: T, table: TableName) -> Self {
        let into = table.clone();
        let position = MigrationPosition::start(table);
        Self { source, target, into, page: None, concurrency: CONCURRENCY, position }
    }

    /// Into a table of another name, so that both may lie in one store.
    #[must_use]
    pub fn into_table(self, name: TableName) -> Self {
        Self { into: name, ..self }
    }

    /// How many rows are read at once, at least 1; by default as many as the source gives (TOP-2).
    #[must_use]
    pub fn page(self, rows: usize) -> Self {
        Self { page: Some(rows.clamp(1, self.source.capabilities().top.max(1))), ..self }
    }

    /// How many partitions are written at once; at least 1, by default 8.
    #[must_use]
    pub fn concurrency(self, partitions: usize) -> Self {
        Self { concurrency: partitions.max(1), ..self }
    }

    /// Goes on where an earlier copy was.
    ///
    /// # Errors
    /// `InvalidInput` for a position in another table.
    pub fn resume(self, position: MigrationPosition) -> Result<Self> {
        if position.table != self.position.table {
            let error = Error::of(PositionFault::OtherTable(position.table));
            return Err(error.with_table(self.position.table.as_str()));
        }
        Ok(Self { position, ..self })
    }

    /// What is copied: to be stored after each step.
    #[must_use]
    pub const fn position(&self) -> &MigrationPosition {
        &self.position
    }

    /// Copies the next page; whether anything is left after it. The first one creates the target's table if it is missing.
    ///
    /// # Errors
    /// Those of both stores. The position is where it was, and the step can be tried again.
    pub async fn step(&mut self) -> Result<bool> {
        let from = match &self.position.place {
            Place::End => return Ok(false),
            Place::Next(continuation) => Some(continuation),
            Place::Start => {
                self.target.create_table_if_missing(&self.into).await?;
                None
            }
        };
        let query = Query { top: self.page, ..Query::new(KeyRange::ALL) };
        let page = self.source.query(&self.position.table, &query, from).await?;
        let rows = page.rows.iter().map(Copied::of).collect::<Result<Vec<_>>>()?;
        let target = self.target.table_named::<Copied>(self.into.as_str())?;
        let write = target.bulk().concurrency(self.concurrency).insert_or_replace_all(&rows);
        write.await.map_err(|stopped| stopped.source)?;
        self.position.advance(rows.len(), page.continuation);
        Ok(self.position.place != Place::End)
    }

    /// What the two tables hold, the source's first: equal if the copy is one. Reads both.
    ///
    /// # Errors
    /// Those of both stores.
    pub async fn checksums(&self) -> Result<(Checksum, Checksum)> {
        let source = Checksum::of(&self.source, &self.position.table).await?;
        Ok((source, Checksum::of(&self.target, &self.into).await?))
    }
}
