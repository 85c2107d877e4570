//! Store growth: samples of each table's rows and bytes, taken while the explorer runs.
//!
//! The store's size is known without reading tables, but counting a table's rows requires a full read. Pages read tables on request; while the store is small,
//! tables are also read automatically.

mod samples;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use table_core::embedded::{Statistics, TableStatistics};
use table_core::{Engine, TableName};

use crate::catalog::Known;
use crate::failure::{Failure, Result};
use crate::json_file::JsonFile;
use crate::store_names::StoreNames;
use samples::Content;

pub(crate) use samples::{Sample, Samples};

/// The interval between two samples.
pub(crate) const INTERVAL: std::time::Duration = std::time::Duration::from_secs(60);
/// The maximum engine size, in bytes, for sampling tables automatically.
pub(crate) const SMALL: u64 = 16 << 20;
/// The name for samples of the entire store. No table can have this name.
pub(crate) const WHOLE: &str = "";

/// A sampler of store and table sizes, with samples kept in a file or in memory.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    file: JsonFile<Content>,
    /// The engine's write count when its tables were last read automatically. The tables are read again only after further writes.
    read_at: Mutex<Option<u64>>,
    /// The error from storing the last sample, if any.
    failure: Mutex<Option<String>>,
}

impl Growth {
    pub(crate) fn in_file(path: PathBuf) -> Self {
        Self { file: JsonFile::at(path), ..Self::default() }
    }

    /// Returns the path of the samples file.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file.path()
    }

    /// Returns the error from storing the last sample, if any.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a store's samples.
    pub(crate) async fn of(&self, store: StoreNames) -> Result<Samples> {
        self.file.run(move |content| content.of(&store)).await
    }

    /// Samples the store's size and, if the store is small and was written to since its tables were last read, each table's size.
    pub(crate) async fn sample(
        &self,
        store: StoreNames,
        engine: &Engine,
        known: &Arc<Known>,
        now: DateTime<Utc>,
    ) {
        let failure = self.try_sample(store, engine, known, now).await.err();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure.map(|error| error.to_string());
    }

    async fn try_sample(
        &self,
        store: StoreNames,
        engine: &Engine,
        known: &Arc<Known>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let found = engine.statistics()?;
        let mut sizes = vec![(WHOLE.to_owned(), 0, bytes(&found))];
        let read_at = *self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_read = bytes(&found) <= SMALL && read_at != Some(found.grouped_writes);
        if is_read {
            let counts = count(engine.clone(), Arc::clone(known)).await?;
            sizes.extend(of_tables(&known.tables, &counts));
        }
        self.note(store, sizes, now).await?;
        // The write count is updated only after the samples are stored. If storing fails, the next sample reads the tables again.
        if is_read {
            *self.read_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.grouped_writes);
        }
        Ok(())
    }

    /// Stores samples of tables just counted by a page.
    pub(crate) async fn counted(
        &self,
        store: StoreNames,
        tables: &[TableName],
        counts: &[Option<TableStatistics>],
        now: DateTime<Utc>,
    ) {
        let failure = self.note(store, of_tables(tables, counts).collect(), now).await.err();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure.map(|error| error.to_string());
    }

    async fn note(
        &self,
        store: StoreNames,
        sizes: Vec<(String, u64, u64)>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let samples: Vec<_> =
            sizes.into_iter().map(|(table, rows, bytes)| (table, Sample::new(now, rows, bytes))).collect();
        self.file.run(move |content| content.add(&store, &samples)).await
    }
}

/// Returns the size of an engine: the size of its base files plus the memory used by rows not yet in them.
pub(crate) fn bytes(found: &Statistics) -> u64 {
    found.base_bytes.saturating_add(found.memtable_bytes as u64)
}

/// Counts the rows and bytes of each table by reading it once, on a blocking thread. A table deleted in the meantime has no count.
pub(crate) async fn count(engine: Engine, known: Arc<Known>) -> Result<Vec<Option<TableStatistics>>> {
    let all = move || known.tables.iter().map(|name| engine.table_statistics(name).ok()).collect();
    let counted = tokio::task::spawn_blocking(all).await;
    counted.map_err(|error| Failure::Refused(format!("the count was stopped: {error}")))
}

fn of_tables<'a>(
    tables: &'a [TableName],
    counts: &'a [Option<TableStatistics>],
) -> impl Iterator<Item = (String, u64, u64)> + 'a {
    let counted = tables.iter().zip(counts);
    counted
        .filter_map(|(name, found)| found.as_ref().map(|found| (name.to_string(), found.rows, found.bytes)))
}

#[cfg(test)]
mod tests {
    use table_core::{DynTableStore, TableEntity, TableStoreExt};

    use super::*;
    use crate::catalog::Catalog;

    #[tokio::test]
    async fn tables_whose_samples_could_not_be_stored_are_read_again() {
        let engine = Engine::in_memory();
        let table = engine.untyped("Grown").unwrap().create_if_missing().await.unwrap();
        table.insert(&TableEntity::new("p", "r").unwrap()).await.unwrap();
        let known = Catalog::default().read(&DynTableStore::new(engine.clone())).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("growth.json");
        std::fs::write(&file, "not JSON").unwrap();
        let growth = Growth::in_file(file.clone());
        let store = StoreNames { identity: "s".to_owned(), shown: "s".to_owned() };
        growth.sample(store.clone(), &engine, &known, Utc::now()).await;
        assert!(growth.failure().unwrap().contains("growth.json"));
        std::fs::remove_file(&file).unwrap();
        growth.sample(store.clone(), &engine, &known, Utc::now()).await;
        assert_eq!(growth.failure(), None);
        assert_eq!(growth.of(store).await.unwrap()["Grown"].len(), 1);
    }
}
