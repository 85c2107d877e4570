//! The evidence that stored entities give about a transaction without an answer (CON-11).

use std::collections::HashMap;

use table_core::Result;
use table_core::store::Committed;

use crate::client::CosmosTables;
use crate::item::Found;
use crate::write::Target;
use crate::write::planned::Planned;

/// The state of a transaction whose answer was lost, as its entities show it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// It was applied; `None` if another writer has changed some of the entities since, so that their `ETags` are lost.
    Applied(Option<Committed>),
    /// It has had no effect, and its conditions allow one effect at most: it can be sent again.
    NotApplied,
    /// It was applied and overwritten, or refused, or may still arrive.
    Unknown,
}

impl Evidence {
    fn of(planned: &[Planned], found: &HashMap<String, Found>, write: &str) -> Self {
        let found = |plan: &Planned| found.get(&plan.row_key);
        let mut committed = Vec::with_capacity(planned.len());
        let (mut ours, mut others) = (0, 0);
        for plan in planned {
            if plan.body.is_none() {
                committed.push(None);
                continue;
            }
            match found(plan).filter(|found| found.written_by() == Some(write)) {
                Some(found) => {
                    ours += 1;
                    committed.push(Some(found.etag.clone()));
                }
                None => others += 1,
            }
        }
        // A batch is applied as a whole: one item of this write is evidence for all of them.
        if ours > 0 {
            return Self::Applied((others == 0).then_some(committed));
        }
        // Each version of an item has its own ETag. While the condition still holds, nothing was applied under it.
        let untouched = planned.iter().any(|plan| plan.condition_holds(found(plan).map(|found| &found.etag)));
        if untouched { Self::NotApplied } else { Self::Unknown }
    }
}

impl CosmosTables {
    /// Reads the entities of a transaction without an answer.
    pub(super) async fn evidence(&self, target: &Target<'_>, planned: &[Planned]) -> Result<Evidence> {
        let rows: Vec<&str> = planned.iter().map(|plan| plan.row_key.as_str()).collect();
        let found = self.find_items(target.table, target.container, target.levels, &rows).await?;
        Ok(Evidence::of(planned, &found, &target.write))
    }
}
