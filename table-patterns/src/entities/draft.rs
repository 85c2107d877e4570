//! A transaction draft: the planned writes from which each attempt builds its batch.
//!
//! Contributors that read other entities add their writes when a batch is built. Single writes, bulk writes, units of work and deletions of wide entities share
//! this builder. Only a draft can add entity plans to a transaction, so no write skips its completion.

mod write;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use table_core::key::{PartitionKey, RowKey};
use table_core::limits::Limits;
use table_core::row::Row;
use table_core::{ErrorCode, Result};

use crate::entities::batch::Batch;
use crate::entities::plan::{EntityPlan, PlannedRow, RowWrite, properties_mut};
use crate::entities::siblings::{Sibling, Siblings};
use crate::outbox::Step;

pub(crate) use write::{Completes, EntityWrite};

/// The planned writes and rows for one transaction.
pub(crate) struct Draft<'a> {
    /// All parts (writes, rows and steps) as planned, before any of them is completed.
    planned: Batch,
    /// The parts, split at the first part that needs completion. `None` if no part needs completion.
    pending: Option<Pending<'a>>,
}

/// The parts of a draft with incomplete writes, split at the first incomplete write.
struct Pending<'a> {
    /// The parts before the first incomplete write.
    base: Batch,
    parts: Vec<Part<'a>>,
}

enum Part<'a> {
    Write(Box<EntityWrite<'a>>),
    Rows(Vec<PlannedRow>),
    Step(RowKey, Step),
}

impl<'a> Draft<'a> {
    /// Creates an empty draft for a partition.
    pub(crate) fn new(partition_key: PartitionKey) -> Self {
        Self { planned: Batch::new(partition_key), pending: None }
    }

    /// Creates a draft with one write.
    ///
    /// # Errors
    /// Any error from [`push`](Self::push).
    pub(crate) fn of(write: EntityWrite<'a>) -> Result<Self> {
        let mut draft = Self::new(write.key().partition_key.clone());
        draft.push(write, None)?;
        Ok(draft)
    }

    /// Returns the parts as planned, before any of them is completed.
    pub(crate) const fn planned(&self) -> &Batch {
        &self.planned
    }

    /// Returns `true` if a part needs completion.
    pub(crate) const fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Adds an entity's write. If the write is refused, the draft stays unchanged. If `limits` is `None`, the size is not checked. In that case, the planned
    /// batch also omits the rows contributed to an incomplete write.
    ///
    /// # Errors
    /// Any error from [`Batch::push_within`].
    pub(crate) fn push(&mut self, write: EntityWrite<'a>, limits: Option<&Limits>) -> Result<()> {
        let begins = write.completion.is_some() && self.pending.is_none();
        let begun = begins.then(|| Pending { base: self.planned.clone(), parts: Vec::new() });
        let part = (begins || self.is_pending()).then(|| Part::Write(Box::new(write.clone())));
        let EntityWrite { plan, completion } = write;
        let plan = match (completion, limits) {
            (Some(_), None) => {
                EntityPlan { is_whole: plan.is_whole, ..EntityPlan::alone(plan.key, plan.kind) }
            }
            _ => plan,
        };
        self.planned.push_within(plan, limits)?;
        self.pending = begun.or_else(|| self.pending.take());
        self.extend(part);
        Ok(())
    }

    /// Adds rows of a pattern that belong to no entity in the draft. If one row is refused, none is added.
    ///
    /// # Errors
    /// Any error from [`Batch::add_rows`].
    pub(crate) fn add_rows(&mut self, rows: Vec<PlannedRow>, limits: Option<&Limits>) -> Result<()> {
        let part = self.is_pending().then(|| Part::Rows(rows.clone()));
        self.planned.add_rows(rows, limits)?;
        self.extend(part);
        Ok(())
    }

    /// Adds an outbox step for an entity. A worker performs the step in another partition.
    ///
    /// # Errors
    /// Any error from [`Batch::add_step`].
    pub(crate) fn add_step(&mut self, source: &RowKey, step: Step, limits: Option<&Limits>) -> Result<()> {
        let part = self.is_pending().then(|| Part::Step(source.clone(), step.clone()));
        self.planned.add_step(source, step, limits)?;
        self.extend(part);
        Ok(())
    }

    fn extend(&mut self, part: Option<Part<'a>>) {
        if let Some(pending) = &mut self.pending {
            pending.parts.extend(part);
        }
    }

    /// Applies `change` to the properties set by an entity's write.
    ///
    /// # Errors
    /// Any error from `change`.
    pub(crate) fn change_row(
        &mut self,
        row_key: &RowKey,
        change: &dyn Fn(&Row) -> Result<Row>,
    ) -> Result<()> {
        self.planned.change_row(row_key, change)?;
        let Some(Pending { base, parts }) = &mut self.pending else { return Ok(()) };
        base.change_row(row_key, change)?;
        for part in parts {
            if let Part::Write(write) = part
                && write.plan.key.row_key == *row_key
                && let Some(row) = properties_mut(&mut write.plan.kind)
            {
                *row = change(row)?;
            }
        }
        Ok(())
    }

    /// Builds the batch for one attempt. The draft's own entities come first, followed by other affected entities. If these do not fit into the transaction,
    /// sets `together` to `false`; workers then write them later.
    ///
    /// # Errors
    /// `UpdateConditionNotSatisfied` if a row changed while it was being read; any error from the contributors or the store.
    pub(crate) async fn batch(&self, together: &mut bool, most: usize) -> Result<Cow<'_, Batch>> {
        let Some(pending) = &self.pending else { return Ok(Cow::Borrowed(&self.planned)) };
        let siblings = Arc::new(pending.siblings()?);
        loop {
            let (mut batch, others) = pending.completed(*together, &siblings).await?;
            if !*together || others.is_empty() {
                return Ok(Cow::Owned(batch));
            }
            let own = batch.entities().iter().map(|known| &known.row_key);
            let added = batch.rows().keys().filter(|row_key| batch.writes(row_key));
            let mut rows: HashSet<_> = own.chain(added).collect();
            // A row could be written twice: two copied entities in the draft may have the same holder, or the draft may contain the holder itself.
            if others.iter().all(|other| rows.insert(&other.key.row_key)) {
                match others.into_iter().try_for_each(|other| batch.push(other)) {
                    Ok(()) if batch.operations() <= most => return Ok(Cow::Owned(batch)),
                    // If participants of two entities write the same row, the affected entities are written in separate transactions.
                    Err(error) if error.code() != ErrorCode::InvalidDuplicateRow => return Err(error),
                    _ => {}
                }
            }
            *together = false;
        }
    }
}

impl Pending<'_> {
    /// Returns the entities written or deleted by the draft.
    fn siblings(&self) -> Result<Siblings> {
        let mut siblings = Siblings::default();
        for part in &self.parts {
            match part {
                Part::Write(write) => match &write.completion {
                    Some(completion) => {
                        let pending = write.pending(completion, true, &Arc::default());
                        siblings.add(&write.plan.key.row_key, Sibling::of(pending.after()?));
                    }
                    None => siblings.remove(&write.plan.key.row_key, &write.plan.kind),
                },
                Part::Rows(rows) => rows.iter().for_each(|row| {
                    if let RowWrite::Fixed(kind) = &row.write {
                        siblings.remove(&row.row_key, kind);
                    }
                }),
                Part::Step(..) => {}
            }
        }
        Ok(siblings)
    }

    /// Returns the batch with all parts completed, and the writes to other entities.
    async fn completed(&self, together: bool, siblings: &Arc<Siblings>) -> Result<(Batch, Vec<EntityPlan>)> {
        let (mut batch, mut others) = (self.base.clone(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Write(write) => match &write.completion {
                    Some(completion) => {
                        let pending = write.pending(completion, together, siblings);
                        let completed = completion.by.complete(pending).await;
                        let (own, more) = completed.map_err(|error| match error.operation() {
                            Some(_) => error,
                            None => error.with_operation(batch.entities().len()),
                        })?;
                        batch.push(EntityPlan { is_whole: write.plan.is_whole, ..own })?;
                        others.extend(more);
                    }
                    None => batch.push(write.plan.clone())?,
                },
                Part::Rows(rows) => batch.add_rows(rows.clone(), None)?,
                Part::Step(source, step) => batch.add_step(source, step.clone(), None)?,
            }
        }
        Ok((batch, others))
    }
}
