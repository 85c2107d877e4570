//! Opens a generation for reading its tables and rows, regardless of their storage format.

use std::path::Path;

use table_core::query::KeyRange;
use table_core::{DynTableStore, Query, TableEntity, TableName};

use crate::backup::generation::{Contents, Generation, TableRows};
use crate::backup::merged::Merged;
use crate::backup::repository::Repository;
use crate::backup::view::View;
use crate::failure::Result;
use crate::rows::{self, Pages};
use crate::transfer::ordered::{Entities, Ordered, OrderedEntities};
use crate::transfer::schema::SchemaRows;
use table_inspect::{derived, keys};

/// A generation opened for reading.
#[derive(Debug)]
pub struct Opened {
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Layers(Repository, Vec<TableRows>),
    // IMPORTANT: the store must be dropped before the view, because dropping the view removes the store's folder.
    Files(DynTableStore, #[expect(dead_code, reason = "keeps the folder")] View),
}

impl Opened {
    /// Opens a generation of a repository.
    ///
    /// # Errors
    /// Any error from [`View::of_generation`].
    pub fn generation(repository: Repository, generation: Generation) -> Result<Self> {
        let rows = match generation.contents {
            Contents::Rows { tables } => Rows::Layers(repository, tables),
            Contents::Files { .. } => {
                let view = View::of_generation(&repository, &generation)?;
                Rows::Files(DynTableStore::new(view.engine.clone()), view)
            }
        };
        Ok(Self { rows })
    }

    /// Opens a folder written by `Engine::backup`.
    ///
    /// # Errors
    /// Any error from [`View::of_folder`].
    pub fn folder(path: &Path) -> Result<Self> {
        let view = View::of_folder(path)?;
        Ok(Self { rows: Rows::Files(DynTableStore::new(view.engine.clone()), view) })
    }

    /// Returns the names of the tables in the generation.
    ///
    /// # Errors
    /// Any error from the store.
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        match &self.rows {
            Rows::Layers(_, tables) => {
                tables.iter().map(|table| Ok(TableName::new(table.name.as_str())?)).collect()
            }
            Rows::Files(store, _) => rows::all_tables(store).await,
        }
    }

    /// Returns the number of rows of a table that the store omitted during the backup.
    #[must_use]
    pub fn omitted(&self, table: &TableName) -> u64 {
        self.layers(table).map_or(0, |found| found.omitted)
    }

    /// Returns a table of a generation that consists of layers.
    fn layers(&self, table: &TableName) -> Option<&TableRows> {
        let Rows::Layers(_, tables) = &self.rows else { return None };
        tables.iter().find(|found| found.name.eq_ignore_ascii_case(table.as_str()))
    }

    /// Returns the stored schemas of a table.
    ///
    /// # Errors
    /// Any error from [`rows`](Self::rows). `Corrupted` or `FormatTooNew` if this version cannot read a schema.
    pub async fn schemas(&self, table: &TableName) -> Result<SchemaRows> {
        let registry = TableName::new(keys::SCHEMAS)?;
        if !self.tables().await?.contains(&registry) {
            return Ok(SchemaRows::default());
        }
        SchemaRows::collect(self.rows(&registry, &KeyRange::partition(table.folded()))?).await
    }

    /// Returns the reason why a table contains only derived rows: it stores another table's index or a view. Returns `None` if it contains entities.
    ///
    /// # Errors
    /// Any error from [`schemas`](Self::schemas).
    pub async fn purpose(&self, table: &TableName) -> Result<Option<String>> {
        let (partition, row) = derived::VIEW;
        if self.rows(table, &KeyRange::point(partition, row))?.next().await?.is_some() {
            return Ok(Some(format!("table {table} stores a view")));
        }
        for name in self.tables().await? {
            let schemas = self.schemas(&name).await?.schemas();
            if let Some(purpose) = schemas.iter().find_map(|schema| derived::index_in(schema, table)) {
                return Ok(Some(purpose));
            }
        }
        Ok(None)
    }

    /// Returns the rows of a table within a key range.
    ///
    /// # Errors
    /// `Refused` if a layer is corrupted.
    pub fn rows<'a>(&'a self, table: &'a TableName, range: &KeyRange) -> Result<BackupRows<'a>> {
        Ok(match &self.rows {
            Rows::Layers(repository, _) => {
                BackupRows::Merged(Merged::open(repository, self.layers(table))?.within(range.clone()))
            }
            Rows::Files(store, _) => {
                BackupRows::Paged(Ordered::new(Pages::new(store, table, Query::new(range.clone())))?)
            }
        })
    }
}

/// The rows of a table in an opened generation.
#[derive(Debug)]
pub enum BackupRows<'a> {
    /// Rows merged from layers.
    Merged(Merged),
    /// Rows read from engine files.
    Paged(Ordered<'a>),
}

impl OrderedEntities for BackupRows<'_> {}

impl Entities for BackupRows<'_> {
    async fn next(&mut self) -> Result<Option<TableEntity>> {
        match self {
            Self::Merged(rows) => rows.next().await,
            Self::Paged(rows) => rows.next().await,
        }
    }
}
