//! The view's lease, which lets only one follower (a process that applies changes) work at a time.
//!
//! Changes in different source partitions may add to the same sums. Followers that apply such changes concurrently make each other's transactions fail, and
//! repeat the same work. The lease avoids this cost. The view is correct even without it.
//!
//! A dead follower's lease expires after a period that the other followers measure. The dead follower's clock is not used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::Result;
use table_core::etag::ETag;
use table_core::runtime::ticks_of;
use table_core::store::TableStore;

use crate::converge::{self, upsert};
use crate::view::View;
use crate::view::follower::Seen;
use crate::view::record;
use crate::view::table::ViewTable;

/// If this many calls see an unchanged lease while the follower's clock does not advance, the lease's holder counts as dead. Without this limit, a follower
/// with a stopped clock would never take over.
const POLLS: u32 = 600;

/// A lease taken by this follower.
#[derive(Debug)]
pub(super) struct Lease {
    etag: ETag,
    taken: u64,
    /// Prevents clones of this follower from applying changes at the same time.
    _working: Working,
}

/// Marks that a clone of the follower is applying changes. Dropping this value removes the mark.
#[derive(Debug)]
struct Working(Arc<AtomicBool>);

impl Working {
    fn begin(mark: &Arc<AtomicBool>) -> Option<Self> {
        (!mark.swap(true, Ordering::SeqCst)).then(|| Self(Arc::clone(mark)))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Takes the lease. Returns `None` if another follower or a clone of this follower holds it.
    pub(super) async fn take_lease(&self) -> Result<Option<Lease>> {
        let follower = &self.memory.follower;
        let Some(working) = Working::begin(&follower.working) else { return Ok(None) };
        let found = self.stored(&record::lease_key()?).await?;
        let holder = found.as_ref().and_then(|found| record::holder(found.row.view()));
        let etag = found.map(|found| found.etag);
        if let (Some(_), Some(etag)) = (holder.filter(|holder| *holder != follower.id), &etag) {
            let seen = self.see(etag.clone());
            let age = self.retry.runtime().now().saturating_sub(seen.since);
            let is_kept = age < ticks_of(self.lease) && seen.times < POLLS;
            if is_kept && (follower.has_called() || !self.is_sighted_long(etag).await?) {
                return Ok(None);
            }
        }
        let etag = self.write_lease(Some(&follower.id), etag).await?;
        Ok(etag.map(|etag| Lease { etag, taken: self.retry.runtime().now(), _working: working }))
    }

    /// Records that another follower's lease was seen. Keeps the time at which it was first seen. If that time is in the future because the clock was set back,
    /// replaces it with the current time.
    fn see(&self, etag: ETag) -> Seen {
        let now = self.retry.runtime().now();
        let mut seen = self.memory.follower.lease();
        let next = match seen.take().filter(|seen| seen.etag == etag) {
            Some(seen) if now > seen.latest => Seen { latest: now, times: 1, ..seen },
            Some(seen) => Seen { since: seen.since.min(now), times: seen.times.saturating_add(1), ..seen },
            None => Seen { etag, since: now, latest: now, times: 1 },
        };
        seen.insert(next).clone()
    }

    /// Renews a lease if a quarter of its duration has passed. Returns `None` if another follower has taken the lease.
    pub(super) async fn renewed(&self, lease: Lease) -> Result<Option<Lease>> {
        let now = self.retry.runtime().now();
        if now.abs_diff(lease.taken) < ticks_of(self.lease) / 4 {
            return Ok(Some(lease));
        }
        let etag = self.write_lease(Some(&self.memory.follower.id), Some(lease.etag.clone())).await?;
        Ok(etag.map(|etag| Lease { etag, taken: now, ..lease }))
    }

    /// Releases a lease, unless another follower has taken it.
    pub(super) async fn release(&self, lease: Lease) -> Result<()> {
        self.write_lease(None, Some(lease.etag.clone())).await.map(drop)
    }

    /// Writes the new holder to the lease row if the row has the version `etag`. Returns the new version, or `None` if another follower has
    /// written the row first.
    async fn write_lease(&self, holder: Option<&str>, etag: Option<ETag>) -> Result<Option<ETag>> {
        let key = record::lease_key()?;
        let write = upsert(record::lease_row(holder), etag);
        let (store, table) = (self.rows.store(), self.rows.name()?);
        match converge::submit(store, table, &key.partition_key, [(key.row_key.clone(), write)]).await {
            Ok(committed) => match committed.into_iter().next().flatten() {
                Some(etag) => Ok(Some(etag)),
                None => Ok(self.stored(&key).await?.map(|found| found.etag)),
            },
            Err(error) if error.is_conflict() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
