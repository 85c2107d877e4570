//! Restores rows from a generation to any store.

use table_core::query::{KeyRange, Select};
use table_core::{DynTableStore, EntityKey, IfMatch, Query, TableName, TableStoreExt};

use crate::backup::opened::Opened;
use crate::count::count_of;
use crate::failure::{Failure, Result};
use crate::progress;
use crate::rows::Pages;
use crate::transfer::compare::{Compared, Comparison};
use crate::transfer::derived::OtherTables;
use crate::transfer::ordered::Ordered;
use crate::transfer::writer::{Change, Mode, Writer};

/// The treatment of rows already in the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The restore is rejected if the target contains selected rows that differ from the backup or are not in it.
    Refuse,
    /// Rows from the backup replace rows in the target. All other rows in the target are kept.
    Keep,
    /// The selected rows in the target are made equal to those in the backup. Selected rows missing from the backup are deleted.
    Replace,
}

/// The rows to restore, and the store that receives them.
#[derive(Clone, Debug)]
pub struct Restoring<'a> {
    /// The opened generation that contains the rows.
    pub backup: &'a Opened,
    /// The store that receives the rows.
    pub target: &'a DynTableStore,
    /// The range of keys to restore.
    pub range: &'a KeyRange,
    /// The treatment of rows already in the target.
    pub existing: Existing,
    /// The tables that exist only in the target. Rows registering their schemas, outboxes and feeds are kept.
    pub others: OtherTables,
    /// The maximum number of rows written per second.
    pub rate: Option<u32>,
}

/// The row counts of one restored table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The number of selected rows in the backup.
    pub rows: u64,
    /// The number of rows written.
    pub written: u64,
    /// The number of rows deleted.
    pub deleted: u64,
    /// The number of rows that the target omitted, because it cannot represent them as entities; they are not compared with the backup. If the whole table is
    /// selected, also the number of rows that the store omitted during the backup, which the backup lacks or contains in an earlier version.
    pub omitted: u64,
}

impl Restoring<'_> {
    /// Restores the selected rows of table `name` to table `new`, and then compares them with the backup.
    ///
    /// # Errors
    /// - `Refused` if [`Existing::Refuse`] is set and the target contains rows that differ from the backup.
    /// - `Refused` if rows in the backup are corrupted, or if rows differ after the restore.
    /// - Any error from the store. A later call continues an interrupted restore.
    pub async fn table(&self, name: &TableName, new: &TableName) -> Result<Restored> {
        self.target.create_table_if_missing(new).await?;
        if self.existing == Existing::Refuse {
            self.refuse_existing(name, new).await?;
        }
        let mut writer = Writer::new(self.target.clone(), new.clone(), Mode::Replace, self.rate);
        let (mut restored, bar) = (Restored::default(), progress::rows("restored"));
        let mut comparison = self.comparison(name, new)?;
        while let Some(compared) = comparison.next().await? {
            match compared {
                Compared::Same(_) => restored.rows += 1,
                Compared::Missing(entity) | Compared::Changed { source: entity, .. } => {
                    restored.rows += 1;
                    restored.written += 1;
                    writer.push(0, Change::Write(entity)).await?;
                }
                Compared::Extra(entity) if self.deletes(new, entity.key()) => {
                    restored.deleted += 1;
                    writer.push(0, Change::Delete(entity.key().clone(), IfMatch::Any)).await?;
                }
                Compared::Extra(_) => {}
            }
            writer.refuse_rejected(&format!("table {new} of the store"))?;
            bar.set_position(restored.rows);
        }
        writer.flush().await?;
        bar.finish_and_clear();
        writer.refuse_rejected(&format!("table {new} of the store"))?;
        restored.omitted = self.verify(name, new).await?;
        if *self.range == KeyRange::ALL {
            restored.omitted += self.backup.omitted(name);
        }
        Ok(restored)
    }

    /// Returns `true` if a row that exists only in the target must be deleted.
    fn deletes(&self, table: &TableName, key: &EntityKey) -> bool {
        self.existing == Existing::Replace && !self.others.keep(table, key)
    }

    fn comparison<'a>(
        &'a self,
        name: &'a TableName,
        new: &'a TableName,
    ) -> Result<Comparison<crate::backup::opened::BackupRows<'a>, Ordered<'a>>> {
        let target = Ordered::new(Pages::new(self.target, new, Query::new(self.range.clone())))?;
        Ok(Comparison::new(self.backup.rows(name, self.range)?, target))
    }

    /// Returns an error if the target contains rows the restore would overwrite, or rows missing from the backup. Rows equal to those in the backup are
    /// accepted, because an interrupted restore leaves such rows behind.
    ///
    /// # Errors
    /// `Refused`, with the first such row, if one exists. Any error from the store.
    pub async fn refuse_existing(&self, name: &TableName, new: &TableName) -> Result<()> {
        if self.is_empty(new).await? {
            return Ok(());
        }
        let mut comparison = self.comparison(name, new)?;
        while let Some(compared) = comparison.next().await? {
            if matches!(compared, Compared::Changed { .. } | Compared::Extra(_)) {
                let (partition, row) =
                    (compared.key().partition_key.as_str(), compared.key().row_key.as_str());
                let help = "pass `--replace` to make them equal to the backup, or `--keep` to keep rows that the backup lacks";
                return Err(Failure::Refused(format!(
                    "table {new} has other rows than the backup, first ('{partition}', '{row}'); {help}"
                )));
            }
        }
        let omitted = comparison.target().omitted();
        if omitted > 0 {
            let rows = count_of(omitted, "row");
            let help = "correct or delete the rows in the warnings, or pass `--replace` or `--keep`, which overwrite such a row if the backup has its key";
            return Err(Failure::Refused(format!(
                "{rows} of table {new} cannot be compared with the backup, because the store omits them; {help}"
            )));
        }
        Ok(())
    }

    /// Returns `true` if the target contains none of the selected rows.
    async fn is_empty(&self, new: &TableName) -> Result<bool> {
        let keys = Select::names(["PartitionKey", "RowKey"]);
        let query = Query { top: Some(1), select: keys, ..Query::new(self.range.clone()) };
        let mut pages = Pages::new(self.target, new, query);
        while let Some(page) = pages.next().await? {
            if !page.rows.is_empty() || page.skipped > 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks that the restored rows are equal to those in the backup. Returns the number of rows that the target omitted.
    async fn verify(&self, name: &TableName, new: &TableName) -> Result<u64> {
        let mut comparison = self.comparison(name, new)?;
        while let Some(compared) = comparison.next().await? {
            let differs = match &compared {
                Compared::Same(_) => false,
                Compared::Extra(entity) => self.deletes(new, entity.key()),
                Compared::Missing(_) | Compared::Changed { .. } => true,
            };
            if differs {
                let (partition, row) =
                    (compared.key().partition_key.as_str(), compared.key().row_key.as_str());
                let help = "a program writes to the table; restore it again with `--replace`";
                return Err(Failure::Refused(format!(
                    "{new} differs from the backup after the restore, first at ('{partition}', '{row}'): {help}"
                )));
            }
        }
        Ok(comparison.target().omitted())
    }
}
