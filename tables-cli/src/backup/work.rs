//! The recorded progress of an unfinished generation, from which a killed backup continues.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use table_core::EntityKey;
use uuid::Uuid;

use crate::backup::file_name;
use crate::backup::generation::{Changes, Consistency, Contents, Generation, Layer, TableRows};
use crate::backup::layer::Mark;
use crate::backup::repository::{Repository, WORKING};
use crate::backup::sealed;
use crate::backup::storage::Storage;
use crate::count::is_zero;
use crate::failure::Result;
use crate::rows::{is_read_first, is_read_last};
use crate::transfer::checksum::Checksum;

/// A progress record contains all completed tables. To limit the cost, it is written again only once the number of completed tables has grown by 1/`GROWTH`.
/// After an interruption, at most the tables completed since the last record are read again.
const GROWTH: usize = 16;

/// The state of an unfinished generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The name of the generation. Earlier releases did not record it, but named the generation after its start time.
    #[serde(default, deserialize_with = "file_name::optional")]
    id: Option<String>,
    #[serde(with = "super::instant")]
    began: DateTime<Utc>,
    /// The name of the generation with which the rows are compared.
    base: Option<String>,
    tables: Vec<TableRows>,
    current: Option<Current>,
}

/// The state of the table that is being read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Current {
    /// The name of the table.
    pub(super) name: String,
    /// `true` if the layers contain all rows of the table, `false` if they contain the changes. Earlier releases did not record it.
    #[serde(default)]
    pub(super) is_full: Option<bool>,
    /// The layers before `file`, each of which an interrupted command wrote up to its mark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<Layer>,
    /// The file name of the table's last layer, or `None` if the layer has not been started. Earlier releases did not record it.
    #[serde(default, deserialize_with = "file_name::optional")]
    pub(super) file: Option<String>,
    /// The position in the file up to which all rows are durable.
    pub(super) mark: Mark,
    /// The differences found so far.
    pub(super) changes: Changes,
    /// The checksum of the rows read so far.
    pub(super) checksum: Checksum,
    /// The number of rows that the pages read so far omit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) omitted: u64,
    /// The PartitionKey and the RowKey of the last compared row.
    pub(super) last: Option<(String, String)>,
    /// The continuation token after the last compared row.
    pub(super) continuation: Option<String>,
}

impl Current {
    /// Creates the state at the start of a table.
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_full: None,
            parts: Vec::new(),
            file: None,
            mark: Mark::default(),
            changes: Changes::default(),
            checksum: Checksum::default(),
            omitted: 0,
            last: None,
            continuation: None,
        }
    }

    /// Ends the last layer at its mark, so the remaining rows of the table are written to another file.
    fn end_layer(&mut self) {
        let end = std::mem::take(&mut self.mark);
        if let Some(file) = self.file.take().filter(|_| end.rows > 0) {
            self.parts.push(Layer { file, end });
        }
    }

    /// Returns the key of the last compared row, or `None` if no row has been compared.
    pub(super) fn last_key(&self) -> Result<Option<EntityKey>> {
        let key = |(partition, row): &(String, String)| EntityKey::new(partition.as_str(), row.as_str());
        Ok(self.last.as_ref().map(key).transpose()?)
    }
}

impl State {
    fn id(&self) -> String {
        self.id.clone().unwrap_or_else(|| Generation::name(self.began))
    }

    /// Returns `true` if all layer files that the state refers to are in `files`.
    fn is_within(&self, files: &[String]) -> bool {
        let files: HashSet<_> = files.iter().collect();
        let parts = self.current.iter().flat_map(|current| &current.parts);
        let layers = self.tables.iter().flat_map(|table| &table.layers).chain(parts).map(|layer| &layer.file);
        let current = self.current.iter().filter_map(|current| current.file.as_ref());
        layers.chain(current).all(|file| files.contains(file))
    }
}

/// Returns the file name for a new layer. Each name is used only once, so a command that has lost the lock cannot change the layers of another command.
pub(super) fn new_file(table: &str, id: &str) -> String {
    format!("{table}-{id}-{}.rows", Uuid::new_v4().simple())
}

/// A generation that is being written.
#[derive(Debug)]
pub(super) struct Work {
    storage: Arc<dyn Storage>,
    state: State,
    /// The number of tables that were completed or replaced since the progress was recorded.
    unsaved: usize,
    /// `true` if an earlier command started the generation.
    pub(super) is_resumed: bool,
}

impl Work {
    /// Continues the unfinished generation if it is based on the newest generation. Otherwise, starts a new generation.
    pub(super) fn open(
        repository: &Repository,
        base: Option<&Generation>,
        now: DateTime<Utc>,
    ) -> Result<Self> {
        let storage = repository.storage().clone();
        let base = base.map(|base| base.id.clone());
        let mut found = sealed::read::<State>(&*storage, WORKING)?.filter(|state| state.base == base);
        if let Some(state) = &mut found {
            // IMPORTANT: the tables that must be read last are read again, because other tables may have been created since.
            state.tables.retain(|table| !is_read_last(&table.name));
            let id = state.id();
            if let Some(current) = &mut state.current {
                current.file.get_or_insert_with(|| format!("{}-{id}-1.rows", current.name));
                // IMPORTANT: the interrupted command may still be running and may write to its file after the mark, so the remaining rows are written to
                // another file.
                if storage.can_lose_lock() {
                    current.end_layer();
                }
            }
            // A command that had lost the lock may have recorded the state after its layers were deleted.
            let files = repository.layers()?;
            found = found.filter(|state| state.is_within(&files));
        }
        let is_resumed = found.is_some();
        let state = if let Some(state) = found {
            state
        } else {
            let (id, tables) = (Some(repository.next_id(now)?), Vec::new());
            State { id, began: now, base, tables, current: None }
        };
        Ok(Self { storage, state, unsaved: 0, is_resumed })
    }

    /// Returns the name of the generation.
    pub(super) fn id(&self) -> String {
        self.state.id()
    }

    /// Returns `true` if the backup of a table is complete.
    pub(super) fn has(&self, name: &str) -> bool {
        self.state.tables.iter().any(|table| table.name == name)
    }

    /// Returns the recorded progress of a table, from which its backup continues.
    pub(super) fn current(&self, name: &str) -> Current {
        let found = self.state.current.clone().filter(|current| current.name == name);
        found.unwrap_or_else(|| Current::new(name))
    }

    /// Records the progress of a table. The table's layer must be durable up to the mark.
    pub(super) fn advance(&mut self, current: Current) -> Result<()> {
        self.state.current = Some(current);
        self.save()
    }

    /// Discards the progress of the current table, so the table is read again from its first row.
    pub(super) fn restart_table(&mut self) -> Result<()> {
        self.state.current = None;
        self.save()
    }

    /// Records that the backup of a table is complete. If many tables are already complete, the record is not written immediately, but together with a later
    /// table.
    pub(super) fn complete(&mut self, table: TableRows) -> Result<()> {
        self.state.current = None;
        self.state.tables.push(table);
        self.save_later()
    }

    /// Returns the first table, at index `from` or later, whose rows may have been read at different times.
    pub(super) fn unsettled(&self, from: usize) -> Option<(usize, TableRows)> {
        let tables = &self.state.tables;
        let is_settled = |table: &TableRows| table.consistency != Consistency::Pages;
        // IMPORTANT: the table with the schemas must be read before all other tables, so it is not read again once another table has been settled.
        let is_late = tables.iter().any(is_settled);
        let is_left = |table: &TableRows| is_settled(table) || is_late && is_read_first(&table.name);
        let found = tables.iter().enumerate().skip(from).find(|(_, table)| !is_left(table));
        found.map(|(at, table)| (at, table.clone()))
    }

    /// Replaces the rows of the table at index `at` with a newer version.
    pub(super) fn replace(&mut self, at: usize, table: TableRows) -> Result<()> {
        if let Some(old) = self.state.tables.get_mut(at) {
            *old = table;
        }
        self.save_later()
    }

    /// Records the progress if enough tables were completed or replaced since it was last recorded.
    fn save_later(&mut self) -> Result<()> {
        self.unsaved += 1;
        if self.unsaved * GROWTH > self.state.tables.len() { self.save() } else { self.storage.keep_lock() }
    }

    fn save(&mut self) -> Result<()> {
        self.unsaved = 0;
        sealed::write(&*self.storage, WORKING, &self.state)
    }

    /// Adds the generation to the repository. Tables that no longer exist are omitted.
    pub(super) fn commit(
        self,
        repository: &Repository,
        names: &[String],
        now: DateTime<Utc>,
    ) -> Result<Generation> {
        let (id, began) = (self.id(), self.state.began);
        let mut tables = self.state.tables;
        tables.retain(|table| names.contains(&table.name));
        tables.sort_by(|left, right| left.name.cmp(&right.name));
        let generation = Generation { id, began, ended: now.max(began), contents: Contents::Rows { tables } };
        repository.commit(&generation)?;
        self.storage.remove(WORKING)?;
        Ok(generation)
    }
}
