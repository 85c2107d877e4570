//! Migration: copies a table to another store. The copy can be resumed and verified (DQ-12, PAGE-7).
//!
//! # Context
//! A program developed on the embedded engine moves its table to a cloud account, or back. No transaction spans both stores, the copy takes a long time, and
//! the process may stop before the copy is complete.
//!
//! # Key layout
//! Keys and properties are kept; the target assigns new Timestamps and `ETag`s (ETAG-6). The table may get a different name ([`Migration::into_table`]). Every
//! row is copied, including the rows of an [outbox](crate::outbox), because the migration does not use schemas. An intent keeps the Timestamp of its change as
//! its `Version` to preserve the order of changes at the target.
//!
//! # Guarantee
//! - When [`Migration::step`] returns `false`, the target contains every source row that existed, unchanged, throughout the copy, except the rows that the
//!   source itself [cannot represent](table_core::query::Page::skipped). [`MigrationPosition::skipped`] counts them.
//! - A page is written before [`Migration::position`] moves past it. A program that stores the position after each step can be interrupted at any point. The
//!   page in progress is then rewritten with the same content.
//! - [`Checksum`] distinguishes tables that differ in any key, name, type or value. It is independent of row order. Rows that a store cannot represent are only
//!   [counted](Checksum::skipped), so the checksums of a copy that lacks such rows differ.
//! - A row that the target cannot store, such as one that exceeds its limits, causes an error and is never skipped.
//!
//! # Cost
//! A copy costs one read per 1,000 rows, and one write per 100 rows of a partition, with at least one write for each partition in a page. A verification
//! reads both tables once.
//!
//! # Bounds
//! - Stop the source's writers first, because the copy misses rows written to key ranges it has already read, and the checksums then differ. A second copy from
//!   the beginning transfers additions and changes, but rows that have since been deleted from the source remain in the target.
//! - An existing row in the target is kept unless a copied row with the same key replaces it. Stop the target's writers, too. If they have allocated numbers
//!   from a copied [sequence](crate::sequence) or continued a copied [feed](crate::feed), a second copy is refused, because it would rewind the sequence or
//!   feed.
//! - Partitions with a feed or with pending intents are registered in the target, where followers and sweeps find them. An outbox's sealing keys are not
//!   copied, so the target's workers set aside, as poison, the steps that a program has recorded for other partitions. To prevent this, copy
//!   [`REGISTRY`](crate::outbox::REGISTRY), which listings of tables omit, or give both programs the [same keys](crate::outbox::Outbox::sealed_by). A seal also
//!   covers the table's name: in a table with a different name, workers set aside all of these steps. If the name differs, run workers until all steps are done
//!   before you copy the table.
//! - Steps that were set aside are copied without their entries in the poison queue. Before the copy, [requeue](crate::outbox::Outbox::requeue_poison) them
//!   and run workers.
//! - The [guards](crate::outbox::guard) of rows written by steps are copied, with versions from the source's clock. If that clock was ahead, the target's
//!   workers skip later steps for the same rows until the target's clock has passed these versions. Start the target's writers after that time.
//! - Blobs are not copied: the rows contain their names, so the target must use the same blob store and prefix. Before the copy, stop both programs' collectors
//!   of orphaned blobs and lists. During the copy, the target's collector would remove the blobs of rows not yet copied. After the copy, start only the
//!   target's collector, and never run the source's again: it would remove blobs uploaded by the target's programs. A copy of a table for tests must not use
//!   the blobs of the original.
//! - Schemas are stored in a separate table, `TablesLayouts`, written in the target by the entity's `create_if_missing`. If the table already has rows, its
//!   indexes, copies and feeds are only announced, because the target cannot tell whether they are complete. Run their backfills with
//!   `assume_no_older_programs`; until then, reads through an index fail with `IndexNotReady`.
//! - A `MigrationPosition` belongs to one table in one source. For a service's table, it contains the service's continuation token (PAGE-8).
//!
//! # When not to
//! To copy between two engine folders, copy the folder. To follow a table in use, use [a log](crate::log_tail), which can be followed in order. To change a
//! schema during the copy, read one type and write the other.
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
//! // Another process continues on another day.
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
pub(crate) mod guard;
mod position;
pub(crate) mod register;
mod row;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use table_core::key::PartitionKey;
use table_core::name::TableName;
use table_core::query::{KeyRange, Query};
use table_core::store::TableStore;
use table_core::table::Table;
use table_core::{Error, Result, TableStoreExt};

use crate::migrate::fault::PositionFault;

pub use checksum::Checksum;
pub use position::MigrationPosition;
use position::Place;
use register::Kind;
pub(crate) use row::Copied;

/// The default number of partitions written concurrently.
const CONCURRENCY: usize = 8;

/// A copy of one table in progress. Holds no open resources, so it may be dropped after or during any step.
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
    /// Creates a migration of a whole table into a table with the same name in another store. Sends no request.
    pub fn new(source: S, target: T, table: TableName) -> Self {
        let into = table.clone();
        let position = MigrationPosition::start(table);
        Self { source, target, into, page: None, concurrency: CONCURRENCY, position }
    }

    /// Sets the name of the target table, so both tables can be in the same store. Finish the source's intents first, because their seals are invalid in a
    /// table with a different name.
    #[must_use]
    pub fn into_table(self, name: TableName) -> Self {
        Self { into: name, ..self }
    }

    /// Sets the number of rows per read, at least 1; the source's page size by default (TOP-2).
    #[must_use]
    pub fn page(self, rows: usize) -> Self {
        Self { page: Some(rows.clamp(1, self.source.capabilities().top.max(1))), ..self }
    }

    /// Sets the number of partitions written concurrently, at least 1; 8 by default.
    #[must_use]
    pub fn concurrency(self, partitions: usize) -> Self {
        Self { concurrency: partitions.max(1), ..self }
    }

    /// Continues an earlier copy from its stored position.
    ///
    /// # Errors
    /// `InvalidInput` if the position belongs to a different table.
    pub fn resume(self, position: MigrationPosition) -> Result<Self> {
        if position.table != self.position.table {
            let error = Error::of(PositionFault::OtherTable(position.table));
            return Err(error.with_table(self.position.table.as_str()));
        }
        Ok(Self { position, ..self })
    }

    /// Returns the copy's current position. Store it after each step.
    #[must_use]
    pub const fn position(&self) -> &MigrationPosition {
        &self.position
    }

    /// Copies the next page of rows. Returns `true` if more pages follow. The first step creates the target table if it does not exist.
    ///
    /// # Errors
    /// `InvalidInput` if the target has issued later sequence or feed numbers than the source; any error from either store. After an error, the position is
    /// unchanged, and the step can be repeated.
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
        for row in page.rows.iter() {
            guard::refuse_set_back(&self.target, &self.into, row).await?;
        }
        let kinds = page.rows.iter().filter_map(|row| Some((Kind::of(row.row_key)?, row.partition_key)));
        for (kind, partition_key) in kinds.collect::<BTreeSet<_>>() {
            kind.register(&self.target, &self.into, &PartitionKey::new(partition_key)?).await?;
        }
        let rows = page.rows.iter().map(Copied::of).collect::<Result<Vec<_>>>()?;
        let target = Table::<Copied, _>::new(self.target.clone(), self.into.clone());
        let write = target.bulk().concurrency(self.concurrency).insert_or_replace_all(&rows);
        write.await.map_err(|stopped| stopped.source)?;
        self.position.advance((rows.len(), page.skipped), page.continuation);
        Ok(self.position.place != Place::End)
    }

    /// Returns the checksums of the source table and the target table. They are equal if the copy is complete. Reads both tables.
    ///
    /// If the source has rows that it [cannot represent](table_core::query::Page::skipped), the checksums differ. Correct these rows with the program that
    /// wrote them, and copy the table again.
    ///
    /// # Errors
    /// Any error from either store.
    pub async fn checksums(&self) -> Result<(Checksum, Checksum)> {
        let source = Checksum::of(&self.source, &self.position.table).await?;
        Ok((source, Checksum::of(&self.target, &self.into).await?))
    }
}
