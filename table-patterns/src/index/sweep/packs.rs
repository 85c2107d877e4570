//! Entities that lack their entry in an index of their partition, written together: as many in a transaction as fit.

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::error::{Error, Result};
use table_core::index::IndexEntry;
use table_core::key::{EntityKey, PartitionKey};
use table_core::limits::Limits;
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::TableStore;

use crate::entities::{Batch, EntityPlan, Outcome, StepRecorder};
use crate::index::sweep::{Item, Sweep};
use crate::requests::{self, CONCURRENCY};

/// A transaction's worth of entities, with their positions among those that are gone over.
struct Pack {
    positions: Vec<usize>,
    batch: Batch,
}

/// Entities by partition, in transactions.
pub(super) struct Packs {
    index: &'static IndexSchema,
    limits: Limits,
    of: BTreeMap<PartitionKey, Vec<Pack>>,
    /// The keys of all copies in them.
    copies: BTreeSet<EntityKey>,
}

impl Packs {
    pub(super) const fn new(index: &'static IndexSchema, limits: Limits) -> Self {
        Self { index, limits, of: BTreeMap::new(), copies: BTreeSet::new() }
    }

    /// Takes an entity with the entry that it lacks. `false` where another one here gets a copy under that key: this one is to be
    /// looked at once that is written.
    pub(super) fn add(
        &mut self,
        position: usize,
        item: &Item,
        plan: impl FnOnce(IndexEntry) -> Result<EntityPlan>,
        entry: IndexEntry,
    ) -> Result<bool> {
        if self.index.kind == IndexKind::Copies && !self.copies.insert(entry.key.clone()) {
            return Ok(false);
        }
        let plan = plan(entry)?;
        let packs = self.of.entry(item.key.partition_key.clone()).or_default();
        if let Some(Pack { positions, batch }) = packs.last_mut()
            && batch.push_within(plan.clone(), Some(&self.limits)).is_ok()
        {
            positions.push(position);
        } else {
            packs.push(Pack { positions: vec![position], batch: Batch::of(plan)? });
        }
        Ok(true)
    }

    /// What is to be written one after the other. Copies never meet; the lists of one partition do, from one transaction to the next.
    fn into_chains(self) -> Vec<Vec<Pack>> {
        let partitions = self.of.into_values();
        match self.index.kind {
            IndexKind::Copies => partitions.flatten().map(|pack| vec![pack]).collect(),
            IndexKind::List => partitions.collect(),
        }
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Sweep<'_, E, S, O> {
    /// Writes each of the transactions, several at a time, and gives the positions of the entities that have their entry now.
    ///
    /// What was written needs no other confirmation: the version of each entity was a condition, and so was that no other entity had the
    /// key of a unique copy, or that a list was as it was read. One that was refused is not among them: a live writer was
    /// faster with one of its entities, and each is to be looked at by itself.
    pub(super) async fn write(&self, packs: Packs) -> Result<BTreeSet<usize>> {
        let chains = packs.into_chains().into_iter().map(|chain| async move {
            let mut written = Vec::new();
            for Pack { positions, batch } in chain {
                if self.is_written(&batch).await? {
                    written.extend(positions);
                }
            }
            Ok::<_, Error>(written)
        });
        let written: Vec<Vec<usize>> = requests::all_done(chains, CONCURRENCY).await?;
        Ok(written.into_iter().flatten().collect())
    }

    async fn is_written(&self, batch: &Batch) -> Result<bool> {
        match self.attempt(batch, false).await {
            Ok(Outcome::Committed(_)) => Ok(true),
            Ok(Outcome::Conflict(..)) => Ok(false),
            // What one of them is refused for, a full list for one, the others are not: by itself each says its own.
            Err(error) if error.code().status() < 500 => Ok(false),
            Err(error) => Err(error),
        }
    }
}
