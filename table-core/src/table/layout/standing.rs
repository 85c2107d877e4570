//! The state of an opened handle relative to the stored schema. A program with an older schema records sightings, or stops writing. A program with a
//! newer schema waits before its first write until older programs know its properties.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use table_store::{Error, Result};

use crate::name::TableName;
use crate::runtime::Runtime;
use crate::schema::StoredSchema;
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::layout::record::read;
use crate::table::layout::unknown::{Stored, UnknownParts, unknown_parts};
use crate::table::layout::{replaced, settling, sighting};

/// The longest time for which a handle writes without reading the stored schema again.
pub const LEASE: Duration = Duration::from_secs(5);

/// The time after which every writing program knows a schema that was stored before it: one lease, and the same time again for the last request.
const SETTLED_AFTER: Duration = Duration::from_secs(2 * LEASE.as_secs());

const LEASE_TICKS: u64 = 5 * 10_000_000;

/// The state of the stored schema, as it is known to an opened handle.
#[derive(Debug)]
pub(crate) struct Standing {
    design: StoredSchema,
    /// The time at which the store was last queried.
    asked: AtomicU64,
    /// `true` if no other process can use the store, so all schemas are replaced by this process.
    exclusive: bool,
    /// The number of schemas that this process had replaced when the store was last queried.
    replaced: AtomicU64,
    /// `true` if the stored schema has properties that the schema of the handle lacks.
    lacks: AtomicBool,
    /// `true` if the next write waits until older programs know the properties of the schema.
    settling: AtomicBool,
    /// The time since which this process has known that the schema is stored.
    since: Mutex<Option<Instant>>,
}

impl Standing {
    /// Creates the state of a handle that has compared its schema with the stored one. If its schema lacks announced parts, the first write queries
    /// the store and records a sighting.
    pub(super) fn new(
        (design, exclusive): (StoredSchema, bool),
        (now, replaced): (u64, u64),
        stored: Stored,
    ) -> Self {
        let unknown = stored.unknown;
        let standing = Self::unasked(design, exclusive);
        standing.replaced.store(replaced, Ordering::Relaxed);
        standing.asked.store(if unknown.announced { 0 } else { now }, Ordering::Relaxed);
        standing.lacks.store(unknown.properties, Ordering::Relaxed);
        if stored.settling {
            standing.note_settling();
        }
        standing
    }

    /// Creates the state of a handle that was not opened itself. Its first write queries the store.
    pub(super) const fn unasked(design: StoredSchema, exclusive: bool) -> Self {
        Self {
            design,
            asked: AtomicU64::new(0),
            exclusive,
            replaced: AtomicU64::new(0),
            lacks: AtomicBool::new(false),
            settling: AtomicBool::new(false),
            since: Mutex::new(None),
        }
    }

    /// Returns `true` if a write may start now without a request and without a wait.
    pub(crate) fn is_admitted(&self, now: u64) -> bool {
        let is_leased = now.abs_diff(self.asked.load(Ordering::Relaxed)) <= LEASE_TICKS;
        is_leased && !self.settling.load(Ordering::Relaxed) && !self.is_replaced()
    }

    /// Returns `true` if this process has replaced the schema of the handle since the store was last queried.
    fn is_replaced(&self) -> bool {
        let (known, count) = (self.replaced.load(Ordering::Relaxed), replaced::count());
        if !self.exclusive || known == count {
            return false;
        }
        let is_replaced = replaced::is_replaced_since(&self.design.fingerprint().to_string(), known);
        if !is_replaced {
            self.replaced.store(count, Ordering::Relaxed);
        }
        is_replaced
    }

    /// Checks that a write may start now. Queries the store if the last result is too old, and waits while older programs may not know the properties
    /// of this schema.
    pub(crate) async fn admit<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
        mut now: u64,
    ) -> Result<()> {
        while !self.is_admitted(now) {
            if self.settling.load(Ordering::Relaxed) {
                self.wait_until_settled((store, runtime), table).await?;
                now = runtime.now();
            }
            // IMPORTANT: this comes after the wait, because another program may have replaced the schema in the meantime.
            let replaced = replaced::count();
            self.ask(store, table).await?;
            self.replaced.store(replaced, Ordering::Relaxed);
            self.asked.store(now, Ordering::Relaxed);
        }
        Ok(())
    }

    fn note_settling(&self) {
        self.since.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        self.settling.store(true, Ordering::Relaxed);
    }

    async fn wait_until_settled<S: TableStore>(
        &self,
        (store, runtime): (&S, &Runtime),
        table: &TableName,
    ) -> Result<()> {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let known = since.map_or(Duration::ZERO, |since| since.elapsed());
        runtime.sleep(SETTLED_AFTER.saturating_sub(known)).await;
        settling::settle(store, table, &self.design).await?;
        self.settling.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Returns `true` if the stored schema equals this one. Returns an error if this program cannot write at the same time as programs with the
    /// stored schema.
    pub(crate) async fn ask<S: TableStore>(&self, store: &S, table: &TableName) -> Result<bool> {
        let mut is_seen = false;
        loop {
            let Some(stored) = read(store, table, &self.design.entity).await? else { return Ok(true) };
            let is_own = stored.schema.fingerprint() == self.design.fingerprint();
            let unknown =
                if is_own { UnknownParts::default() } else { unknown_parts(&stored, &self.design, table)? };
            let is_known = self.since.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            if is_own && stored.settling && !is_known {
                self.note_settling();
            }
            if is_seen || !unknown.announced {
                self.lacks.store(unknown.properties, Ordering::Relaxed);
                return Ok(is_own);
            }
            // IMPORTANT: the schema is read again after the sighting. A backfill that missed the sighting had already refused older programs by then.
            sighting::leave(store, table, &self.design.entity).await?;
            is_seen = true;
        }
    }

    /// Checks that a row may be replaced entirely.
    pub(crate) fn admit_whole(&self, table: &TableName) -> Result<()> {
        if !self.lacks.load(Ordering::Relaxed) {
            return Ok(());
        }
        let fault = TableFault::DropsProperties(self.design.entity.clone());
        Err(Error::of(fault).with_table(table.as_str()))
    }
}
