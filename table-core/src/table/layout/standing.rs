//! The standing of a handle's design beside the one that is stored: a program of an older design stops writing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::name::TableName;
use crate::schema::{StoredSchema, evolve};
use crate::store::TableStore;
use crate::table::fault::TableFault;
use crate::table::layout::record::{StoredLayout, read};

/// How long a handle writes on before it asks again whether the stored design is still its own.
pub const LEASE: Duration = Duration::from_secs(5);

const LEASE_TICKS: u64 = 5 * 10_000_000;

/// What a handle knows of the stored design since it was opened.
#[derive(Debug)]
pub(crate) struct Standing {
    design: StoredSchema,
    /// When it asked last.
    asked: AtomicU64,
    /// Whether the stored design has properties that this one does not know.
    lacks: AtomicBool,
}

impl Standing {
    pub(super) const fn new(design: StoredSchema, now: u64, lacks: bool) -> Self {
        Self { design, asked: AtomicU64::new(now), lacks: AtomicBool::new(lacks) }
    }

    /// The standing of a handle that was not opened itself: its first write asks.
    pub(super) const fn unasked(design: StoredSchema) -> Self {
        Self { design, asked: AtomicU64::new(0), lacks: AtomicBool::new(false) }
    }

    /// Whether a write may begin at an instant. Asks the store if the last answer is too old for that.
    pub(crate) async fn admit<S: TableStore>(&self, store: &S, table: &TableName, now: u64) -> Result<()> {
        if now.abs_diff(self.asked.load(Ordering::Relaxed)) <= LEASE_TICKS {
            return Ok(());
        }
        self.ask(store, table).await?;
        self.asked.store(now, Ordering::Relaxed);
        Ok(())
    }

    /// Whether the stored design is this one; an error if it is one that this one cannot write beside.
    pub(crate) async fn ask<S: TableStore>(&self, store: &S, table: &TableName) -> Result<bool> {
        let Some(stored) = read(store, table, &self.design.entity).await? else { return Ok(true) };
        let is_own = stored.schema.fingerprint() == self.design.fingerprint();
        let lacks = if is_own { false } else { beside(&stored, &self.design, table)? };
        self.lacks.store(lacks, Ordering::Relaxed);
        Ok(is_own)
    }

    /// Whether a row may be replaced as a whole.
    pub(crate) fn admit_whole(&self, table: &TableName) -> Result<()> {
        if !self.lacks.load(Ordering::Relaxed) {
            return Ok(());
        }
        let fault = TableFault::DropsProperties(self.design.entity.clone());
        Err(Error::of(fault).with_table(table.as_str()))
    }
}

/// Whether a program of an older design lacks properties of the stored one.
///
/// # Errors
/// `LayoutMismatch` if it cannot write beside it.
pub(super) fn beside(stored: &StoredLayout, own: &StoredSchema, table: &TableName) -> Result<bool> {
    let evolution = evolve(&stored.schema, own);
    if evolution.is_beside(&stored.schema, own) {
        return Ok(evolution.changes.iter().any(|change| change.rule.id == "EVO-3"));
    }
    let (entity, generation) = (own.entity.clone(), stored.generation);
    Err(Error::of(TableFault::OlderLayout { entity, generation, evolution }).with_table(table.as_str()))
}
