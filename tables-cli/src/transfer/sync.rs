//! Makes a table equal to another table by comparing their rows in key order.

mod row;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use table_core::query::KeyRange;
use table_core::{DynTableStore, EntityKey, Query, TableName, TableStoreExt};

use crate::failure::{Failure, Result};
use crate::progress;
use crate::rows::Pages;
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::derived::OtherTables;
use crate::transfer::ordered::Ordered;
use crate::transfer::stored::{self, Stored};
use crate::transfer::writer::{Mode, Writer};
use row::{change, read, read_again, write};

/// Once this many differing rows are waiting, they are compared again.
const AGAIN: usize = 64;
/// The maximum number of concurrent reads by key.
const CONCURRENCY: usize = 16;
/// The maximum number of times that a row is compared again because other programs write to it.
const ATTEMPTS: usize = 10;

/// The options of a synchronisation.
#[derive(Clone, Debug, Default)]
pub struct SyncOptions {
    /// `true` to keep rows that exist only in the target.
    pub keeps_extra: bool,
    /// `true` to count the differences without writing any changes.
    pub is_dry_run: bool,
    /// The maximum number of rows written per second.
    pub rate: Option<u32>,
    /// The tables that exist only in the target. The rows that register their schemas, outboxes and feeds are kept.
    pub others: OtherTables,
}

/// The numbers of rows that differ, by kind of difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The number of rows that exist only in the source.
    pub added: u64,
    /// The number of rows that exist in both tables with different properties.
    pub changed: u64,
    /// The number of rows that exist only in the target.
    pub deleted: u64,
    /// The number of rows that the stores omitted, because they cannot represent them as entities. These rows are not compared, and not counted as
    /// differences.
    pub omitted: u64,
}

impl Differences {
    /// Returns the total number of differences. Omitted rows are not counted.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.added + self.changed + self.deleted
    }

    const fn count(&mut self, compared: &Compared) {
        match compared {
            Compared::Same(_) => {}
            Compared::Missing(_) => self.added += 1,
            Compared::Changed { .. } => self.changed += 1,
            Compared::Extra(_) => self.deleted += 1,
        }
    }
}

/// Makes a table in the target equal to the same table in the source. After an error, another call completes the synchronisation.
///
/// Programs may write to both tables at the same time, for example another call of this function. A row is replaced or deleted only if it still differs when
/// its source is read again by key. The change is conditional on the version of the target row that was compared. A row
/// of the target is also kept if the source contains the row but cannot represent it as an entity.
///
/// # Errors
/// `Refused` if the target rejects a row, or if a program keeps writing to a row. Any error from either store.
pub async fn sync(
    source: &DynTableStore,
    target: &DynTableStore,
    name: &TableName,
    options: &SyncOptions,
) -> Result<Differences> {
    let pages = |store| Pages::new(store, name, Query::new(KeyRange::ALL));
    let mut comparison =
        Comparison::new(Ordered::new(pages(source))?, Ordered::new(pages(target).if_exists())?);
    let bar = progress::rows("changed");
    let writer = Writer::new(target.clone(), name.clone(), Mode::Insert, options.rate).tolerant();
    let (waiting, written) = (Vec::new(), VecDeque::new());
    let mut syncing = Syncing {
        source,
        target,
        name,
        options,
        writer,
        waiting,
        written,
        settled: 0,
        found: Differences::default(),
        omits: false,
    };
    let mut is_created = options.is_dry_run;
    loop {
        let next = comparison.next().await?;
        // The target table is created only after the first read, which fails if the source lacks the table.
        if !std::mem::replace(&mut is_created, true) {
            target.create_table_if_missing(name).await?;
        }
        let Some(compared) = next else { break };
        syncing.omits = comparison.source().omitted() > 0;
        if !syncing.differs(&compared) {
            continue;
        }
        bar.inc(1);
        if options.is_dry_run {
            let compared =
                if syncing.omits { read_again(source, name, compared, true).await? } else { compared };
            syncing.found.count(&compared);
        } else {
            syncing.push(compared).await?;
        }
    }
    let found = syncing.finish().await?;
    bar.finish_and_clear();
    let omitted = comparison.source().omitted() + comparison.target().omitted();
    Ok(Differences { omitted, ..found })
}

/// A synchronisation of a table.
struct Syncing<'a> {
    source: &'a DynTableStore,
    target: &'a DynTableStore,
    name: &'a TableName,
    options: &'a SyncOptions,
    writer: Writer,
    /// The rows that differ and have not been compared again.
    waiting: Vec<Compared>,
    /// The keys of the changes passed to the writer, except the first `settled` changes.
    written: VecDeque<EntityKey>,
    settled: u64,
    found: Differences,
    /// `true` if pages of the source have omitted rows.
    omits: bool,
}

impl Syncing<'_> {
    /// Returns `true` if the row in the target must be changed.
    fn differs(&self, compared: &Compared) -> bool {
        match compared {
            Compared::Same(_) => false,
            Compared::Missing(_) | Compared::Changed { .. } => true,
            Compared::Extra(entity) => {
                !self.options.keeps_extra && !self.options.others.keep(self.name, entity.key())
            }
        }
    }

    async fn push(&mut self, compared: Compared) -> Result<()> {
        self.waiting.push(compared);
        if self.waiting.len() < AGAIN { Ok(()) } else { self.write_waiting().await }
    }

    /// Compares the waiting rows again, and passes the remaining differences to the writer.
    async fn write_waiting(&mut self) -> Result<()> {
        let (source, name, omits) = (self.source, self.name, self.omits);
        let again = std::mem::take(&mut self.waiting).into_iter();
        let again = again.map(|compared| read_again(source, name, compared, omits));
        let again: Vec<_> = stream::iter(again).buffered(CONCURRENCY).try_collect().await?;
        for compared in again {
            if !self.differs(&compared) {
                continue;
            }
            self.found.count(&compared);
            let key = compared.key().clone();
            // If the change is rejected, this number identifies its key.
            let number = self.settled + self.written.len() as u64;
            self.written.push_back(key);
            if let Some(change) = change(compared) {
                self.writer.push(number, change).await?;
            }
            self.settle().await?;
        }
        Ok(())
    }

    /// Compares again the rows whose changes were rejected, because a program may have changed these rows.
    async fn settle(&mut self) -> Result<()> {
        for rejected in self.writer.take_rejected() {
            let at = rejected.line.checked_sub(self.settled).and_then(|at| usize::try_from(at).ok());
            if let Some(key) = at.and_then(|at| self.written.get(at)).cloned() {
                self.write_alone(&key).await?;
            }
        }
        let settled = self.writer.settled();
        let passed = usize::try_from(settled - self.settled).unwrap_or(usize::MAX);
        self.written.drain(..passed.min(self.written.len()));
        self.settled = settled;
        Ok(())
    }

    /// Makes one row in the target equal to the row in the source.
    async fn write_alone(&self, key: &EntityKey) -> Result<()> {
        for _ in 0..ATTEMPTS {
            // IMPORTANT: the target is read first. If a program writes to both tables after that, the version in the target is stale, and the write is rejected.
            let target = read(self.target, self.name, key).await?;
            let source = match stored::read(self.source, self.name, key, self.omits).await? {
                Stored::Missing => None,
                Stored::Entity(entity) => Some(entity),
                Stored::Unreadable => return Ok(()),
            };
            let Some(compared) = Compared::of(source, target).filter(|compared| self.differs(compared))
            else {
                return Ok(());
            };
            if write(self.target, self.name, compared).await? {
                return Ok(());
            }
        }
        let (partition, row) = (key.partition_key.as_str(), key.row_key.as_str());
        let help = "run the command again after the program has ended";
        Err(Failure::Refused(format!(
            "a program writes to row ('{partition}', '{row}') of {} all the time; {help}",
            self.target
        )))
    }

    async fn finish(mut self) -> Result<Differences> {
        self.write_waiting().await?;
        self.writer.flush().await?;
        self.settle().await?;
        Ok(self.found)
    }
}
