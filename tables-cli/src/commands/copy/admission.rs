//! Checks before a copy that the rows of the target will be consistent.

use table_core::query::KeyRange;
use table_core::{EntityKey, Query, TableName};
use table_inspect::derived;

use crate::check::refuse_torn;
use crate::commands::copy::Copy;
use crate::commands::copy::equal::Rewritten;
use crate::failure::{Failure, Result};
use crate::rows::{Pages, Selected, is_empty};
use crate::store::Store;
use crate::transfer::contained::first_not_contained;
use crate::transfer::derived::{admit, refuse_alone};
use crate::transfer::ordered::Ordered;
use crate::transfer::parts::{has_parts, refuse_mixed_parts};
use crate::transfer::schema::SchemaRows;

impl Copy {
    /// Returns an error if the copy would leave incorrect index rows, copies or feeds in the target.
    pub(super) async fn admit(
        &self,
        (source, name): (&Store, &TableName),
        (target, new): (&Store, &TableName),
    ) -> Result<()> {
        if self.table.is_some() {
            refuse_alone(derived::purpose(&source.tables, name).await?)?;
        }
        if !self.is_whole() {
            derived::refuse_declared(&source.tables, name).await?;
            derived::refuse_plain_writes(&target.tables, new, false).await?;
            let selected = self.selection.rows(&source.tables, name).await?;
            if (self.rewrites_keys() || self.keep_timestamp.is_some())
                && has_parts(&source.tables, name, &selected).await?
            {
                let help = "omit `--partition-key`, `--row-key` and `--keep-timestamp`";
                return Err(Failure::Refused(format!(
                    "table {name} stores wide entities, whose programs do not read other keys and properties; {help}"
                )));
            }
            refuse_torn(&source.tables, name, &selected).await?;
            return self.refuse_mixed_parts((source, name), (target, new)).await;
        }
        let schemas = SchemaRows::read(&source.tables, name).await?;
        if admit(&schemas, (&target.tables, new), self.table.is_none()).await? {
            return refuse_other_rows((source, name), (target, new)).await;
        }
        self.refuse_mixed_parts((source, name), (target, new)).await
    }

    /// Returns an error if the copy would replace only some parts of a wide entity in the target. If keys are rewritten, this is checked later, when the rows
    /// are written.
    async fn refuse_mixed_parts(
        &self,
        (source, name): (&Store, &TableName),
        (target, new): (&Store, &TableName),
    ) -> Result<()> {
        if self.rewrites_keys() {
            return Ok(());
        }
        let selected = self.selection.rows(&source.tables, name).await?;
        let rows = || Ordered::new(Pages::new(&source.tables, name, selected));
        refuse_mixed_parts(rows, (&target.tables, new), self.mode).await
    }

    /// Returns `true` if every row of a table is copied without changes.
    const fn is_whole(&self) -> bool {
        self.selection.is_all() && !self.rewrites_keys() && self.keep_timestamp.is_none()
    }

    /// Returns an error if several rows have the same new key. This is checked before any row is written.
    pub(super) async fn refuse_equal_keys(
        &self,
        (source, name): (&Store, &TableName),
        selected: Selected,
    ) -> Result<()> {
        if !self.rewrites_keys() {
            return Ok(());
        }
        let rewrite = |entity| self.rewrite(entity);
        Rewritten { source: &source.tables, table: name, selected, rewrite: &rewrite }
            .refuse_equal_keys()
            .await
    }
}

/// Returns an error if the target contains rows that the source lacks or stores with different properties. Rows derived from them would remain in the target.
async fn refuse_other_rows(
    (source, name): (&Store, &TableName),
    (target, new): (&Store, &TableName),
) -> Result<()> {
    if is_empty(&target.tables, new).await? {
        return Ok(());
    }
    let every = Query::new(KeyRange::ALL).into();
    match first_not_contained((&target.tables, new), &every, (&source.tables, name)).await? {
        None => Ok(()),
        Some(EntityKey { partition_key, row_key }) => {
            let help = "use `tables sync`, which deletes them, or pass `--bypass-derived`";
            Err(Failure::Refused(format!(
                "table {new} has other rows than the source, first ('{partition_key}', '{row_key}'); their derived rows would remain; {help}"
            )))
        }
    }
}
