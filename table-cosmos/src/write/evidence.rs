//! Determines from the stored entities whether a transaction with a lost response took effect (CON-11).

use std::collections::HashMap;

use table_core::Result;
use table_core::store::Committed;

use crate::client::CosmosTables;
use crate::item::Found;
use crate::write::Target;
use crate::write::planned::Planned;

/// The state of a transaction with a lost response, as determined from its entities.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The transaction was applied. `None` if a concurrent writer has since changed an entity, so the `ETag`s of the transaction are unknown.
    Applied(Option<Committed>),
    /// The transaction had no effect, and its conditions ensure that it takes effect only once. It can be sent again.
    NotApplied,
    /// The transaction was applied and then overwritten, or was rejected, or may still arrive.
    Unknown,
}

impl Evidence {
    fn of(planned: &[Planned], found: &HashMap<String, Found>, target: &Target<'_>) -> Self {
        let (mapping, write) = (&target.container.mapping, target.write.as_str());
        let found = |plan: &Planned| found.get(&plan.row_key);
        let mut committed = Vec::with_capacity(planned.len());
        let (mut ours, mut others) = (0_usize, 0_usize);
        for plan in planned {
            let Some(body) = &plan.body else {
                committed.push(None);
                continue;
            };
            let found = found(plan).filter(|found| found.descends_from(mapping, write));
            ours += usize::from(found.is_some());
            match found.filter(|found| found.is_written_by(mapping, write, body)) {
                Some(found) => committed.push(Some(found.etag.clone())),
                None => others += 1,
            }
        }
        // A batch is atomic. A single item with this write identifier proves that all items were written.
        if ours > 0 {
            return Self::Applied((others == 0).then_some(committed));
        }
        // Each version of an item has a unique `ETag`. If the condition of a request still holds, the request was not applied.
        let untouched = planned.iter().any(|plan| plan.condition_holds(found(plan).map(|found| &found.etag)));
        if untouched { Self::NotApplied } else { Self::Unknown }
    }
}

impl CosmosTables {
    /// Reads the entities of a transaction with a lost response, and determines its state.
    pub(super) async fn evidence(&self, target: &Target<'_>, planned: &[Planned]) -> Result<Evidence> {
        let rows: Vec<&str> = planned.iter().map(|plan| plan.row_key.as_str()).collect();
        let found = self.find_items(target.table, target.container, target.levels, &rows).await?;
        Ok(Evidence::of(planned, &found, target))
    }
}
