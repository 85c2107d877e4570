//! Rebuilds the same-partition index rows of selected partitions.

use table_core::entity::Entity;
use table_core::index::IndexOf;
use table_core::query::TextRange;
use table_core::store::TableStore;
use table_core::{Error, Result};

use crate::entities::{Entities, StepRecorder};
use crate::index::finding::{Finding, FindingKind};
use crate::index::pace::Pacer;
use crate::index::sweep::{Phase, Sweep};
use crate::position::Position;

/// The first failures that left an index incomplete.
#[derive(Debug, Default)]
pub(crate) struct Incomplete {
    /// The first entity that shares its value in a unique index with another entity.
    pub(crate) duplicate: Option<Finding>,
    /// The first error from writing an index entry or checking an index row.
    pub(crate) blocked: Option<Error>,
    /// The error of the first entity that cannot be read.
    pub(crate) unread: Option<Error>,
    /// `true` if pages omit rows whose keys the store does not return.
    pub(crate) omits_rows: bool,
}

impl<E: Entity, S: TableStore, O: StepRecorder> Entities<E, S, O> {
    /// Makes the index rows in the given partitions consistent with the entities there. Processes the same-partition indexes whose names satisfy `is_wanted`.
    /// Skips entities that cannot be read, and values that no key of an index can contain.
    ///
    /// # Errors
    /// `SchemaMismatch` if this program must not write; any error caused by an outage of the store.
    pub(crate) async fn derive_within(
        &self,
        partitions: &[TextRange],
        is_wanted: impl Fn(&str) -> bool + Send,
    ) -> Result<Incomplete> {
        let mut incomplete = Incomplete::default();
        let mut pacer = Pacer::new(self.retry.runtime().clone(), None);
        for index in
            E::INDEXES.iter().filter(|index| is_derived_within(index) && is_wanted(index.schema().name))
        {
            let sweep = Sweep { within: Some(partitions), ..Sweep::new(self, index, true) };
            for phase in [Phase::Rows, Phase::Entities] {
                let mut next = Some(Position::default());
                while let Some(at) = next {
                    let swept = sweep.page(phase, &at, &mut pacer).await?;
                    incomplete.omits_rows |= swept.skipped > 0;
                    let mut findings = swept.findings.into_iter();
                    let duplicate = findings.find(|finding| finding.kind == FindingKind::Duplicate);
                    incomplete.duplicate = incomplete.duplicate.or(duplicate);
                    next = swept.next;
                }
            }
            incomplete.blocked = incomplete.blocked.or(sweep.blocked.into_inner());
            incomplete.unread = incomplete.unread.or(sweep.unread.into_inner());
        }
        Ok(incomplete)
    }
}

fn is_derived_within<E: Entity>(index: &IndexOf<E>) -> bool {
    index.schema().is_same_partition()
}
