//! Evidence in stored entities about a transaction without a response (CON-11).

use std::collections::HashMap;

use table_core::Result;
use table_core::store::Committed;

use crate::client::CosmosTables;
use crate::item::Found;
use crate::write::Target;
use crate::write::planned::Planned;

/// The state of a transaction with a lost response, determined from its entities.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The transaction was applied. `None` if another writer has since changed some of the entities, whose `ETags` are therefore unknown.
    Applied(Option<Committed>),
    /// The transaction had no effect, and its conditions allow at most one effect. It can be sent again.
    NotApplied,
    /// The transaction was applied and overwritten, or was rejected, or may still arrive.
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
        // A batch is atomic, so a single item that this transaction wrote proves that all of them were written.
        if ours > 0 {
            return Self::Applied((others == 0).then_some(committed));
        }
        // Each version of an item has a unique ETag. While the condition still holds, the request has had no effect.
        let untouched = planned.iter().any(|plan| plan.condition_holds(found(plan).map(|found| &found.etag)));
        if untouched { Self::NotApplied } else { Self::Unknown }
    }
}

impl CosmosTables {
    /// Reads the entities of a transaction without a response.
    pub(super) async fn evidence(&self, target: &Target<'_>, planned: &[Planned]) -> Result<Evidence> {
        let rows: Vec<&str> = planned.iter().map(|plan| plan.row_key.as_str()).collect();
        let found = self.find_items(target.table, target.container, target.levels, &rows).await?;
        Ok(Evidence::of(planned, &found, &target.write))
    }
}
