//! Deletes the reports that a rebuild makes obsolete. A report is the poison row of an entity, or of a partition in which the view has missed changes.
//!
//! A rebuild marks the existing reports at its start, and deletes the marked reports at its end. A later failure or gap replaces the row, which removes the
//! mark. The marks are stored in the rows because the number of reports is unlimited, but a rebuild's resume position must be small enough to be stored.

use table_core::Result;
use table_core::etag::IfMatch;
use table_core::key::{PartitionKey, RowKey};
use table_core::operation::OperationKind;
use table_core::query::{EntityRef, KeyRange, Query, TextRange};
use table_core::store::TableStore;

use crate::paging::Pages;
use crate::view::View;
use crate::view::poison::ViewPoison;
use crate::view::record::{self, MARKS};
use crate::view::table::ViewTable;

/// The maximum number of marks in one row. If the marks of later rebuilds push out a rebuild's mark, the report remains until one of the later rebuilds ends.
const MOST_MARKS: usize = 16;

impl<V: View, S: TableStore> ViewTable<V, S> {
    /// Adds a rebuild's identifier to the reports that the rebuild makes obsolete. Returns `true` if any such reports exist.
    pub(super) async fn mark_reports(&self, rebuild: &str) -> Result<bool> {
        self.write_reports(|row| {
            // A partition whose feed cannot be read remains set aside until its changes have been read.
            let is_obsolete =
                ViewPoison::read(row.row).is_ok_and(|poison| poison.is_entity() || poison.is_gap());
            if !is_obsolete {
                return Ok(None);
            }
            let mut marks = marks(row);
            marks.push(rebuild.to_owned());
            let dropped = marks.len().saturating_sub(MOST_MARKS);
            let marked = record::one_text(MARKS, &record::json(&marks.split_off(dropped))?);
            Ok(Some(OperationKind::Merge(marked, IfMatch::ETag(row.etag()))))
        })
        .await
    }

    /// Deletes the reports with a rebuild's mark. A row written since the start of the rebuild records a later failure or gap, and is not deleted.
    pub(super) async fn end_reports(&self, rebuild: &str) -> Result<()> {
        self.write_reports(|row| {
            let is_marked = marks(row).iter().any(|mark| mark == rebuild);
            Ok(is_marked.then(|| OperationKind::Delete(IfMatch::ETag(row.etag()))))
        })
        .await
        .map(drop)
    }

    /// Writes the rows of all reports for which `write` returns an operation. Skips rows written by another process in the meantime. Returns `true` if `write`
    /// returned any operations.
    async fn write_reports(
        &self,
        write: impl Fn(EntityRef<'_>) -> Result<Option<OperationKind>> + Send + Sync,
    ) -> Result<bool> {
        let partition_key = PartitionKey::new(record::STATE_PARTITION)?;
        let range = KeyRange::rows(record::STATE_PARTITION, TextRange::prefix(record::POISON));
        let (query, mut has_some) = (Query::new(range), false);
        let most = self.rows.store().capabilities().limits.operations.max(1);
        let mut pages = Pages::new(self.rows.store(), self.rows.name()?, &query);
        while let Some(page) = pages.next().await? {
            let mut operations = Vec::new();
            for row in page.rows.iter() {
                if let Some(operation) = write(row)? {
                    operations.push((RowKey::new(row.row_key)?, operation));
                }
            }
            has_some |= !operations.is_empty();
            for some in operations.chunks(most) {
                if self.submit(&partition_key, some.to_vec()).await? || some.len() == 1 {
                    continue;
                }
                for one in some {
                    self.submit(&partition_key, vec![one.clone()]).await?;
                }
            }
        }
        Ok(has_some)
    }
}

/// Returns the identifiers of the rebuilds that have marked a report.
fn marks(row: EntityRef<'_>) -> Vec<String> {
    record::parse(row.row, MARKS).unwrap_or_default()
}
