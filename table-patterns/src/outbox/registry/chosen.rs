//! Chooses the registered partitions that a sweep reads: all active partitions, and a random sample of the quiet partitions.

use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Query};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::outbox::fault::OutboxFault;
use crate::outbox::registry::{Entry, KEYS, SWEEPS, entry};
use crate::paging::{Pages, none_if_missing};

/// A uniform random sample of a stream of unknown length (reservoir sampling). Its memory use does not depend on this length.
#[derive(Debug)]
struct Sample<T> {
    items: Vec<T>,
    most: usize,
    /// The number of offered items.
    offered: u64,
}

impl<T> Sample<T> {
    const fn new(most: usize) -> Self {
        Self { items: Vec::new(), most, offered: 0 }
    }

    /// Offers an item. The item is added, replaces a random item, or is discarded. At any time, all offered items are in the sample with equal probability.
    fn offer(&mut self, item: T, random: impl FnOnce() -> u64) {
        self.offered += 1;
        if self.items.len() < self.most {
            self.items.push(item);
            return;
        }
        let at = random().checked_rem(self.offered).and_then(|at| usize::try_from(at).ok());
        if let Some(place) = at.and_then(|at| self.items.get_mut(at)) {
            *place = item;
        }
    }
}

/// Returns all active partitions, and at most `most` quiet partitions, chosen at random. Calls `fail` with the error of each registry row that is invalid or
/// that the store cannot represent. Holds only the returned partitions in memory.
pub(crate) async fn chosen<S: TableStore>(
    store: &S,
    registry: &str,
    (most, mut random): (usize, impl FnMut() -> u64 + Send),
    mut fail: impl FnMut(Error) + Send,
) -> Result<Vec<Entry>> {
    let name = TableName::new(registry)?;
    let (mut chosen, mut quiet) = (Vec::new(), Sample::new(most));
    let mut take = |row: EntityRef<'_>| match entry(row) {
        Ok(entry) if entry.is_quiet => quiet.offer(entry, &mut random),
        Ok(entry) => chosen.push(entry),
        // Rows in the partitions `KEYS` and `SWEEPS` are not registrations.
        Err(_) if [KEYS, SWEEPS].contains(&row.partition_key) => {}
        Err(error) => fail(error.with_table(name.as_str()).with_key(row.partition_key, row.row_key)),
    };
    let (query, mut unreadable, mut skipped) = (Query::new(KeyRange::ALL), Vec::new(), 0);
    let mut pages = Pages::new(store, &name, &query);
    while let Some(whole) = none_if_missing(pages.next_whole().await)? {
        whole.page.rows.iter().for_each(&mut take);
        unreadable.extend(whole.unreadable);
        skipped += whole.page.skipped;
    }
    // Rows in the partitions `KEYS` and `SWEEPS` are not registrations.
    unreadable.retain(|row| ![KEYS, SWEEPS].contains(&row.key.partition_key.as_str()));
    for row in unreadable {
        fail(row.into_error(&name));
    }
    for _ in 0..skipped {
        fail(Error::of(OutboxFault::OmittedRegistry).with_table(name.as_str()));
    }
    chosen.extend(quiet.items);
    Ok(chosen)
}

#[cfg(test)]
mod tests;
