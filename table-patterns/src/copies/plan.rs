//! The write plan of an entity with copies, completed while related entities are read.

use std::any::Any;
use std::sync::Arc;

use table_core::Result;
use table_core::entity::Entity;
use table_core::key::EntityKey;
use table_core::limits::Limits;
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::Row;
use table_core::runtime::Runtime;
use table_core::table::SchemaWatch;

use crate::copies::chain;
use crate::entities::{
    Contribution, Contributor, EntityChange, EntityPlan, PendingWrite, Siblings, WriteContext, read_as,
};
use crate::index::{Indexes, ListBlobs, RemoteChange, relay};
use crate::participant::Participants;

/// The planned write of one entity, plus the additional writes that keep its copies consistent.
#[derive(Debug)]
pub(super) struct CopyPlan {
    /// All properties of the entity after the write, including the copies, or `None` if the entity is deleted.
    pub(super) new: Option<Row>,
    /// `true` if holders in the same partition may be written in the same transaction.
    pub(super) together: bool,
    /// The context of the write, which the holders' participants may record.
    pub(super) context: WriteContext,
    /// The other entities written by the same unit of work.
    pub(super) siblings: Arc<Siblings>,
    /// Operations that write references, or make the transaction fail if a source has changed.
    pub(super) rows: Vec<Operation>,
    /// Changes that a worker must settle in other partitions.
    pub(super) remote: Vec<RemoteChange>,
    /// The writes to the entity's holders in the same transaction.
    pub(super) others: Vec<EntityPlan>,
}

impl CopyPlan {
    /// Creates the plan for a pending write, without copies.
    pub(super) fn of(pending: &PendingWrite) -> Result<Self> {
        let PendingWrite { together, siblings, context, .. } = pending;
        let (new, context) = (pending.after()?, context.clone());
        let (together, siblings) = (*together, Arc::clone(siblings));
        Ok(Self {
            new,
            together,
            context,
            siblings,
            rows: Vec::new(),
            remote: Vec::new(),
            others: Vec::new(),
        })
    }

    /// Returns `kind`, changed to write all properties of the entity, including the copies.
    pub(super) fn operation(&self, kind: OperationKind) -> OperationKind {
        match (kind, self.new.clone()) {
            (OperationKind::Insert(_), Some(row)) => OperationKind::Insert(row),
            (OperationKind::Replace(_, if_match) | OperationKind::Merge(_, if_match), Some(row)) => {
                OperationKind::Replace(row, if_match)
            }
            (kind, _) => kind,
        }
    }
}

/// The context for writing a holder through its source's handle. Used if no handle for the holder's type is available.
pub(super) struct HolderContext<'a> {
    /// The extensions attached to the store, such as participants.
    pub(super) attached: Option<&'a (dyn Any + Send + Sync)>,
    pub(super) blobs: Option<&'a ListBlobs>,
    pub(super) pace: &'a Runtime,
    pub(super) context: &'a WriteContext,
    /// The limits of the store.
    pub(super) limits: &'a Limits,
    /// The stored schemas read by the handle.
    pub(super) watch: SchemaWatch,
    /// The entities that have propagated the change to the holder; the last one is the holder's source.
    pub(super) path: &'a [EntityKey],
}

/// Plans the write that changes a holder's row from `before` to `after`, with its index rows and participants' rows. If a changed value is copied by other
/// entities, the plan also contains a step for them.
pub(super) fn plan_holder<H: Entity>(
    holder: &HolderContext<'_>,
    (table, key): (&TableName, &EntityKey),
    kind: OperationKind,
    [before, after]: [&Row; 2],
) -> Result<EntityPlan> {
    let (old, new) = (read_as::<H>(key, before)?, read_as::<H>(key, after)?);
    let HolderContext { context, pace, limits, .. } = *holder;
    let watch = &holder.watch.of(H::SCHEMA, table);
    let stored = Some(before);
    let (before, after) = (Some(&old), Some(&new));
    let change =
        EntityChange { key, kind: &kind, old: before, new: after, stored, context, pace, limits, watch };
    let mut out = Contribution::default();
    if let Some(participants) = Participants::<H>::attached_to(holder.attached) {
        Contributor::<H, ()>::contribute(&participants, &change, &mut out)?;
    }
    let indexes = Indexes { blobs: holder.blobs.cloned(), ..Indexes::of::<H>() };
    Contributor::<H, ()>::contribute(&indexes, &change, &mut out)?;
    let passed_on = chain::passed_on(key, (&old, &new), holder.path);
    out.derived_steps.extend(passed_on.map(|change| relay::step_of(H::SCHEMA, &change)));
    Ok(out.into_plan(key.clone(), kind))
}
