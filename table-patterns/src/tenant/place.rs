//! A tenant's locations. A location is a set of partitions in one table (or in one table per period), with the entity types registered for it.

use std::sync::Arc;

use table_core::name::TableName;
use table_core::query::{EntityRef, KeyRange, Query, Select, TextRange};
use table_core::store::DynTableStore;
use table_core::{Error, Result};

#[cfg(feature = "blobs")]
use crate::blob::BlobFolder;
use crate::paging::{Pages, none_if_missing};
use crate::tenant::fault::TenantFault;
use crate::tenant::member::Member;
use crate::tenant::partitions::Partitions;
use crate::tenant::periodic::PeriodSource;

/// The tables of a location: a single table, or one table per period.
#[derive(Clone)]
pub(super) enum Tables {
    One(TableName),
    Periods(Arc<dyn PeriodSource>),
}

impl Tables {
    /// Returns `true` if both values are the same table, or if both have the same period length and the same table name without the period.
    ///
    /// # Errors
    /// Any error from [`TableName::new`].
    pub(super) fn is_same(&self, other: &Self) -> Result<bool> {
        match (self, other) {
            (Self::One(table), Self::One(other)) => Ok(table == other),
            (Self::Periods(source), Self::Periods(other)) => {
                Ok(source.period() == other.period() && source.base()? == other.base()?)
            }
            (Self::One(_), Self::Periods(_)) | (Self::Periods(_), Self::One(_)) => Ok(false),
        }
    }
}

/// The partitions in one table, or in one table per period, with the entity types registered for them.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) store: DynTableStore,
    pub(super) tables: Tables,
    pub(super) partitions: Vec<Partitions>,
    pub(super) members: Vec<Arc<dyn Member>>,
    #[cfg(feature = "blobs")]
    pub(super) blobs: Vec<FolderOf>,
}

/// A function that returns the folder with a table's blobs; `None` if the table has none.
#[cfg(feature = "blobs")]
pub(super) type FolderOf = Arc<dyn Fn(&TableName) -> Result<Option<BlobFolder>> + Send + Sync>;

impl Place {
    pub(super) fn new(store: DynTableStore, tables: Tables, partitions: Vec<Partitions>) -> Self {
        Self {
            store,
            tables,
            partitions,
            members: Vec::new(),
            #[cfg(feature = "blobs")]
            blobs: Vec::new(),
        }
    }

    /// Adds the folders that contain the blobs of the location's tables.
    #[cfg(feature = "blobs")]
    pub(super) fn add_folders(&mut self, folders: &FolderOf) {
        if !self.blobs.iter().any(|known| Arc::ptr_eq(known, folders)) {
            self.blobs.push(Arc::clone(folders));
        }
    }

    /// Adds the blob folders of each of two locations to the other one.
    #[cfg(feature = "blobs")]
    pub(super) fn share_folders(&mut self, other: &mut Self) {
        other.blobs.iter().for_each(|folders| self.add_folders(folders));
        self.blobs.iter().for_each(|folders| other.add_folders(folders));
    }

    /// Returns the folders that contain the blobs of one of the location's tables. A folder used by several entity types is returned once.
    ///
    /// # Errors
    /// `InvalidInput` if the prefix of a folder is not a valid path.
    #[cfg(feature = "blobs")]
    pub(super) fn folders(&self, table: &TableName) -> Result<Vec<BlobFolder>> {
        let mut found: Vec<BlobFolder> = Vec::new();
        for folder_of in &self.blobs {
            let Some(folder) = folder_of(table)? else { continue };
            if !found.iter().any(|known| known.is_same(&folder)) {
                found.push(folder);
            }
        }
        Ok(found)
    }

    /// Returns the folders of all of the location's tables, including folders whose tables do not exist.
    ///
    /// # Errors
    /// Any error from [`folders`](Self::folders) or from the blob store.
    #[cfg(feature = "blobs")]
    pub(super) async fn stored_folders(&self) -> Result<Vec<BlobFolder>> {
        let mut stored = Vec::new();
        for folder in self.folders(&self.name()?)? {
            for table in folder.tables().await?.iter().filter(|table| self.has(table)) {
                stored.extend(self.folders(table)?);
            }
        }
        Ok(stored)
    }

    /// Returns the folder that contains the blob `name`; `None` if the name belongs to none of the location's tables.
    ///
    /// # Errors
    /// `InvalidInput` if the prefix of a folder is not a valid path.
    #[cfg(feature = "blobs")]
    pub(super) fn folder_with(&self, name: &str) -> Result<Option<BlobFolder>> {
        for folder_of in &self.blobs {
            let any = folder_of(&self.name()?)?;
            let Some(table) = any.and_then(|folder| folder.table_of(name)) else { continue };
            if self.has(&table) {
                return folder_of(&table);
            }
        }
        Ok(None)
    }

    /// Returns the table's name. For one table per period, returns the name without the period.
    pub(super) fn name(&self) -> Result<TableName> {
        match &self.tables {
            Tables::One(table) => Ok(table.clone()),
            Tables::Periods(source) => source.base(),
        }
    }

    /// Returns the location's existing tables.
    pub(super) async fn existing(&self) -> Result<Vec<TableName>> {
        match &self.tables {
            Tables::One(table) => Ok(vec![table.clone()]),
            Tables::Periods(source) => source.existing().await,
        }
    }

    /// Returns `true` if the location contains a table with this name.
    pub(super) fn has(&self, table: &TableName) -> bool {
        match &self.tables {
            Tables::One(own) => own.folded() == table.folded(),
            Tables::Periods(source) => source.has(table),
        }
    }

    /// Returns the key ranges of the partitions.
    pub(super) fn ranges(&self) -> Vec<TextRange> {
        self.partitions.iter().map(Partitions::range).collect()
    }

    /// Returns a row's registered type. Returns `None` for index rows, reserved rows and rows of unregistered types.
    pub(super) fn member(&self, row: EntityRef<'_>) -> Option<&Arc<dyn Member>> {
        self.members.iter().find(|member| member.owns(row))
    }

    /// Returns `true` if a row belongs to an index of a registered type in the entities' own partition.
    pub(super) fn has_index_row(&self, row: EntityRef<'_>) -> bool {
        self.members.iter().any(|member| member.has_index_row(row))
    }

    /// Checks that every type in the location's tables is registered if it may have rows in other partitions or tables.
    ///
    /// # Errors
    /// `InvalidInput`, with the type's name, for the first unregistered type.
    pub(super) fn check(&self) -> Result<()> {
        let is_known = |entity: &str| self.members.iter().any(|member| member.schema().entity == entity);
        for other in self.members.iter().flat_map(|member| member.others()) {
            let has_copies = other
                .keeps
                .iter()
                .any(|kept| kept.starts_with("copied_by ") || kept.starts_with("copies_from "));
            if (has_copies || crate::entity_store::has_remote(other.indexes)) && !is_known(other.entity) {
                return Err(
                    Error::of(TenantFault::Unregistered(other.entity)).with_table(self.name()?.as_str())
                );
            }
        }
        Ok(())
    }

    /// Returns `true` if a range of partitions contains rows, including rows that the store cannot represent.
    pub(super) async fn has_rows(&self, table: &TableName, range: TextRange) -> Result<bool> {
        let query = Query { select: Select::names(["RowKey"]), ..Query::new(all_rows(range)) };
        let mut pages = Pages::new(&self.store, table, &query);
        let Some(page) = none_if_missing(pages.next().await)? else { return Ok(false) };
        Ok(!page.rows.is_empty() || page.skipped > 0 || !pages.is_end())
    }
}

/// Returns the key range of all rows in a range of partitions.
pub(super) const fn all_rows(partition_key: TextRange) -> KeyRange {
    KeyRange { partition_key, row_key: TextRange::ALL }
}
