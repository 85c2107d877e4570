//! Groups entities whose index entries are missing in their partition into transactions, with as many entities per transaction as fit.

use std::collections::{BTreeMap, BTreeSet};

use table_core::entity::Entity;
use table_core::index::IndexEntry;
use table_core::key::{EntityKey, PartitionKey};
use table_core::limits::Limits;
use table_core::schema::{IndexKind, IndexSchema};
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{Batch, EntityPlan, Outcome, StepRecorder};
use crate::index::sweep::{Item, Sweep};
use crate::requests::{self, CONCURRENCY};

/// The entities of one transaction, each with its position in the list of processed entities.
struct Pack {
    positions: Vec<usize>,
    batch: Batch,
}

/// The transactions to commit, by partition.
pub(super) struct Packs {
    index: &'static IndexSchema,
    limits: Limits,
    of: BTreeMap<PartitionKey, Vec<Pack>>,
    /// The keys of all copies that the transactions write.
    copies: BTreeSet<EntityKey>,
}

impl Packs {
    pub(super) const fn new(index: &'static IndexSchema, limits: Limits) -> Self {
        Self { index, limits, of: BTreeMap::new(), copies: BTreeSet::new() }
    }

    /// Adds an entity and its missing index entry to a transaction. Returns `false` if an entity that was added earlier has a copy under the same key. Check
    /// the new entity after that copy has been written.
    pub(super) fn add(
        &mut self,
        position: usize,
        item: &Item,
        plan: impl FnOnce(IndexEntry) -> EntityPlan,
        entry: IndexEntry,
    ) -> Result<bool> {
        if self.index.kind == IndexKind::Copies && !self.copies.insert(entry.key.clone()) {
            return Ok(false);
        }
        let plan = plan(entry);
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

    /// Returns independent chains of transactions. The transactions in a chain must be written in order. Each transaction that writes copies is a chain of its
    /// own. Transactions with lists in one partition form one chain, because they may write the same list.
    fn into_chains(self) -> Vec<Vec<Pack>> {
        let partitions = self.of.into_values();
        match self.index.kind {
            IndexKind::Copies => partitions.flatten().map(|pack| vec![pack]).collect(),
            IndexKind::List => partitions.collect(),
        }
    }
}

impl<E: Entity, S: TableStore, O: StepRecorder> Sweep<'_, E, S, O> {
    /// Writes the transactions, several chains concurrently. Returns the positions of the entities whose entry was written.
    ///
    /// The writes need no further confirmation. Each transaction is conditional on the version of every entity, on the absence of a unique copy's key, or on
    /// the version of a list. If a concurrent writer has changed one of a transaction's entities, the transaction is refused, and the result contains none of
    /// its entities. The caller must check them separately.
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
            // An error, such as a full list, may concern only one entity. Written separately, the entities show which one it concerns.
            Err(error) if error.code().status() < 500 => Ok(false),
            Err(error) => Err(error),
        }
    }
}
