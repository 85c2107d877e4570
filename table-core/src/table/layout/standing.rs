//! State of an opened handle relative to the stored schema: a program with an older schema records sightings, or stops writing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::name::TableName;
use crate::schema::{StoredSchema, compare_schemas};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::layout::record::{SchemaRecord, read};
use crate::table::layout::sighting;

/// The maximum time for which a handle writes before it reads the stored schema again.
pub const LEASE: Duration = Duration::from_secs(5);

const LEASE_TICKS: u64 = 5 * 10_000_000;

/// The state of the stored schema, as known since the handle was opened.
#[derive(Debug)]
pub(crate) struct Standing {
    design: StoredSchema,
    /// The time at which the store was last queried.
    asked: AtomicU64,
    /// `true` if the stored schema has properties that the schema of the handle lacks.
    lacks: AtomicBool,
}

/// The parts of a newer schema that a program does not know, although it may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnknownParts {
    /// `true` if the unknown parts include optional properties.
    pub(super) properties: bool,
    /// `true` if the unknown parts include indexes, a feed or copies whose backfill has not begun.
    pub(super) announced: bool,
}

impl Standing {
    /// Creates the state of a handle that has compared its schema. If it lacks announced parts, its first write queries the store and records a
    /// sighting.
    pub(super) const fn new(design: StoredSchema, now: u64, unknown: UnknownParts) -> Self {
        let asked = if unknown.announced { 0 } else { now };
        Self { design, asked: AtomicU64::new(asked), lacks: AtomicBool::new(unknown.properties) }
    }

    /// Creates the state of a handle that was not opened itself. Its first write queries the store.
    pub(super) const fn unasked(design: StoredSchema) -> Self {
        Self { design, asked: AtomicU64::new(0), lacks: AtomicBool::new(false) }
    }

    /// Checks that a write may start now. Queries the store if the last result is too old.
    pub(crate) async fn admit<S: TableStore>(&self, store: &S, table: &TableName, now: u64) -> Result<()> {
        if now.abs_diff(self.asked.load(Ordering::Relaxed)) <= LEASE_TICKS {
            return Ok(());
        }
        self.ask(store, table).await?;
        self.asked.store(now, Ordering::Relaxed);
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
            if is_seen || !unknown.announced {
                self.lacks.store(unknown.properties, Ordering::Relaxed);
                return Ok(is_own);
            }
            // IMPORTANT: the schema is read again after the sighting. A backfill that did not see it has refused older programs before.
            sighting::leave(store, table, &self.design.entity).await?;
            is_seen = true;
        }
    }

    /// Checks that a row may be replaced as a whole.
    pub(crate) fn admit_whole(&self, table: &TableName) -> Result<()> {
        if !self.lacks.load(Ordering::Relaxed) {
            return Ok(());
        }
        let fault = TableFault::DropsProperties(self.design.entity.clone());
        Err(Error::of(fault).with_table(table.as_str()))
    }
}

/// Returns the declarations of the stored schema that a program with an older schema lacks.
///
/// # Errors
/// `SchemaMismatch` if the program cannot write at the same time as programs with the stored schema.
pub(super) fn unknown_parts(
    stored: &SchemaRecord,
    own: &StoredSchema,
    table: &TableName,
) -> Result<UnknownParts> {
    let evolution = compare_schemas(&stored.schema, own);
    if evolution.can_write_concurrently((&stored.schema, own), |part| stored.awaits(part)) {
        let has = |rule: &str| evolution.changes.iter().any(|change| change.rule.id == rule);
        return Ok(UnknownParts { properties: has("EVO-3"), announced: has("EVO-21") || has("EVO-31") });
    }
    let (entity, generation) = (own.entity.clone(), stored.generation);
    Err(Error::of(TableFault::OlderLayout { entity, generation, evolution }).with_table(table.as_str()))
}
