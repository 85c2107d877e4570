//! The writes that make a holder (an entity that holds copies) match its source (the copied entity).

use table_core::etag::IfMatch;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::query::EntityRef;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::copies::fault::CopyFault;
use crate::copies::group::Group;
use crate::copies::io;
use crate::copies::plan::HolderContext;
use crate::copies::reference::StoredReference;
use crate::copies::relation::{Refreshed, Relation};
use crate::entities::{Contribution, EntityPlan};
use crate::feed::FeedRecorder;

/// The writes that make one holder match its source.
#[derive(Debug)]
pub(crate) struct HolderStep {
    /// The holder's write, or `None` if the holder does not refer to the source or needs no write.
    pub(super) write: Option<EntityPlan>,
    /// Obsolete references, whose holder is missing or refers to another source.
    pub(super) drop: Vec<StoredReference>,
}

impl HolderStep {
    /// Computes the writes that make a holder match its source; `None` means that the source has been deleted.
    ///
    /// # Errors
    /// `Unsupported` if a reference contains an unknown relation; any error from the relation.
    pub(super) fn of<S: TableStore + 'static>(
        (relations, feed, touches): (&[Relation], Option<&FeedRecorder<S>>, bool),
        context: &HolderContext<'_>,
        (key, source): (&EntityKey, Option<EntityRef<'_>>),
        (group, stored): (Group, Option<StoredRow>),
    ) -> Result<Self> {
        let Group { table, holder, references } = group;
        let Some(stored) = stored else {
            return Ok(Self { write: None, drop: references });
        };
        let (mut row, mut ours, mut is_changed, mut drop) = (stored.row.clone(), None, false, Vec::new());
        for found in references {
            let relation = relation(relations, &found)?;
            let entity = EntityRef::new(holder.partition_key.as_str(), holder.row_key.as_str(), row.view());
            let refreshed =
                (relation.refresh)(key, entity, source).map_err(|error| error.with_table(table.as_str()))?;
            let is_here = !matches!(refreshed, Refreshed::Elsewhere);
            ours = ours.or(is_here.then_some(relation.holder));
            if let Refreshed::Changed(changed) = refreshed {
                (row, is_changed) = (changed, true);
            }
            if !is_here || source.is_none() {
                drop.push(found);
            }
        }
        let if_match = IfMatch::ETag(stored.etag);
        let Some(of) = ours else { return Ok(Self { write: None, drop }) };
        if !is_changed {
            let write = EntityPlan::alone(holder, io::touch(if_match));
            return Ok(Self { write: touches.then_some(write), drop });
        }
        let kind = OperationKind::Replace(row.clone(), if_match);
        let mut plan = (of.plan)(context, (&table, &holder), kind, [&stored.row, &row])?;
        if let Some(feed) = feed.filter(|_| of.feed) {
            let mut out = Contribution::default();
            feed.record(&holder.row_key, "updated", &mut out);
            plan.records.extend(out.records);
        }
        if let Some(feed) = feed {
            let mut out = Contribution::default();
            feed.attach(&mut out);
            plan.recorder = out.recorder;
        }
        Ok(Self { write: Some(plan), drop })
    }
}

/// Returns the relation named by a stored reference.
pub(super) fn relation<'a>(relations: &'a [Relation], found: &StoredReference) -> Result<&'a Relation> {
    let name = &found.reference.relation;
    let fault = || Error::of(CopyFault::UnknownRelation(name.clone()));
    relations.iter().find(|relation| relation.name == name).ok_or_else(fault)
}
