//! Records in the view's table when a lease was seen. A follower that makes only one call cannot measure how long another follower's lease remains unchanged,
//! so it records that it saw the lease. Later followers can then measure the lease's age with the store's clock.

use table_core::etag::ETag;
use table_core::row::{Row, RowView, RowWriter};
use table_core::runtime::ticks_of;
use table_core::store::TableStore;
use table_core::{Result, ValueRef};

use crate::converge::{self, upsert};
use crate::view::View;
use crate::view::record;
use crate::view::table::ViewTable;

/// The first and the last time, according to the store's clock, at which followers saw a lease.
struct Sighting {
    first: u64,
    last: u64,
}

impl Sighting {
    /// Reads the times at which a lease was seen. Returns `None` if the row is about a different lease.
    fn read(row: RowView<'_>, lease: &ETag) -> Result<Option<Self>> {
        if row.find("Lease", &mut 0)? != Some(ValueRef::String(&lease.to_string())) {
            return Ok(None);
        }
        let last = row.timestamp();
        let first = match row.find("First", &mut 0)? {
            Some(ValueRef::Int64(first)) => u64::try_from(first).unwrap_or(last),
            _ => last,
        };
        Ok(Some(Self { first, last }))
    }

    /// Returns a row that records that a lease was seen. The row's Timestamp is the time at which it was last seen.
    fn row(lease: &ETag, first: Option<u64>) -> Row {
        let mut writer = RowWriter::with_capacity(2);
        writer.property("Lease", ValueRef::String(&lease.to_string()));
        if let Some(first) = first.and_then(|first| i64::try_from(first).ok()) {
            writer.property("First", ValueRef::Int64(first));
        }
        writer.finish()
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Records that a lease was seen. Returns `true` if the lease was seen at two times at least one lease duration apart. In that case, its holder counts as
    /// dead.
    pub(super) async fn is_sighted_long(&self, lease: &ETag) -> Result<bool> {
        let key = record::sighting_key()?;
        let found = self.stored(&key).await?;
        let sighting = match &found {
            Some(found) => Sighting::read(found.row.view(), lease)?,
            None => None,
        };
        if sighting.as_ref().is_some_and(|seen| seen.last.saturating_sub(seen.first) >= ticks_of(self.lease))
        {
            return Ok(true);
        }
        let write =
            upsert(Sighting::row(lease, sighting.map(|seen| seen.first)), found.map(|found| found.etag));
        let (store, table) = (self.rows.store(), self.rows.name()?);
        match converge::submit(store, table, &key.partition_key, [(key.row_key, write)]).await {
            // Another follower has just recorded a sighting.
            Err(error) if error.is_conflict() => Ok(false),
            noted => noted.map(|_| false),
        }
    }
}
