//! Tests copies of the engine's folder and of its backup by hard links. A copy and its original are used in turn, and must not affect each other.

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use table_core::embedded::Engine;
use table_core::limits::Limits;
use table_core::query::{KeyRange, Query};
use table_core::row::RowWriter;
use table_core::{
    Error, ErrorCode, Operation, OperationKind, PartitionKey, Result, RowKey, TableName, TableStore,
    Transaction, ValueRef,
};

use super::backups::{BACKUP, is_in, tables};
use super::{FOLDER, History};
use crate::power::Fault;
use crate::sim::model::{State, Wrong};
use crate::sim::plan::Life;

/// The folder that contains the hard-linked copy of the engine's folder.
const LINKED: &str = "/linked";
/// The folder that contains the hard-linked copy of the backup.
const LINKED_BACKUP: &str = "/linked-backup";

/// The hard-linked copies.
#[derive(Default)]
pub(super) struct Linked {
    /// The possible states of the copied folder, or `None` if it has not been copied.
    folder: Option<Vec<Arc<State>>>,
    /// `true` if a process ended while it was opening the copied folder. It may have replaced files with copies whose names are not durable yet.
    unsynced: bool,
    /// The number of acknowledged rows in the table that exists only in the copied folder.
    rows: u32,
    /// The possible states of the copied backup. The flag is `true` if the backup must be complete.
    backup: Option<(Vec<Arc<State>>, bool)>,
}

impl Linked {
    /// Returns `true` if the folder has been copied.
    pub(super) fn is_of_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// Records a power loss. Names that were not durable refer to the files of the original again. In the meantime, the engine of the original has overwritten
    /// these files. Nothing is therefore known about the copy.
    pub(super) fn lose_power(&mut self) {
        if std::mem::take(&mut self.unsynced) {
            self.folder = None;
        }
    }
}

impl History {
    /// Copies the folder or the backup by hard links, or uses an existing copy of the folder. No engine may be open.
    pub(super) fn use_links(&mut self) -> std::result::Result<(), Wrong> {
        if !self.established || self.excuses.is_damaged() {
            return Ok(());
        }
        if self.neighbours.random.random_ratio(1, 3) {
            self.log.add("the backup is copied by hard links".to_owned());
            self.disk.link_folder(Path::new(BACKUP), Path::new(LINKED_BACKUP));
            self.neighbours.linked.backup = Some((self.backups.states.clone(), self.backups.whole));
        }
        if self.neighbours.linked.folder.is_some() && self.neighbours.random.random_ratio(2, 3) {
            return self.use_linked_folder();
        }
        if self.neighbours.random.random() {
            self.log.add("the folder is copied by hard links".to_owned());
            self.disk.link_folder(Path::new(FOLDER), Path::new(LINKED));
            self.neighbours.linked.folder = Some(self.model.states());
            self.neighbours.linked.rows = 0;
            self.neighbours.linked.unsynced = false;
        }
        Ok(())
    }

    /// Runs an engine on the copied folder. In half of the cases, the process ends at one of the calls that the engine makes to the disk.
    fn use_linked_folder(&mut self) -> std::result::Result<(), Wrong> {
        // The rows in the copy are also checked after a power loss.
        let quiet = Life { relaxed: false, ..self.life.quiet() };
        let life = std::mem::replace(&mut self.life, quiet);
        if self.neighbours.random.random() {
            self.disk.set_fault(Some(Fault::PowerAtCall(self.neighbours.random.random_range(1..80))));
        }
        self.log.add("an engine uses the folder of hard links".to_owned());
        let used = self.live_on_links();
        self.life = life;
        self.disk.set_fault(None);
        if self.disk.has_lost_power() {
            self.disk = self.disk.after_kill();
        }
        used
    }

    fn live_on_links(&mut self) -> std::result::Result<(), Wrong> {
        match self.check_links() {
            Err(wrong) if !self.disk.has_lost_power() => Err(wrong),
            _ => Ok(()),
        }
    }

    fn check_links(&mut self) -> std::result::Result<(), Wrong> {
        let wrong = |error: Error| Wrong(format!("the folder of hard links received {error}"));
        self.neighbours.linked.unsynced = true;
        let engine = self.options().open(LINKED).map_err(wrong)?;
        self.neighbours.linked.unsynced = false;
        let found = tables(&engine, self.shape).map_err(wrong)?.map_err(Wrong)?;
        let states = self.neighbours.linked.folder.take().unwrap_or_default();
        let states: Vec<_> = states.into_iter().filter(|state| is_in(state, &found)).collect();
        if states.is_empty() {
            return Err(Wrong(format!("the folder of hard links has other rows: {found:?}")));
        }
        self.neighbours.linked.folder = Some(states);
        let rows = own_rows(&engine).map_err(wrong)?;
        if rows < self.neighbours.linked.rows as usize {
            return Err(Wrong(format!(
                "{rows} of {} rows are in the folder of hard links",
                self.neighbours.linked.rows
            )));
        }
        for _ in 0..self.neighbours.random.random_range(1..6) {
            // A row may exist even though its write was not acknowledged.
            let row = u32::try_from(own_rows(&engine).map_err(wrong)?).unwrap_or_default();
            match self
                .schedule
                .block_on(create(&engine))
                .and_then(|()| self.schedule.block_on(write(&engine, row)))
            {
                // The history may already have reached the greatest Timestamp.
                Err(error) if error.rule() == Some("CON-12") => break,
                written => written.map_err(wrong)?,
            }
            self.neighbours.linked.rows = row + 1;
            if self.neighbours.random.random() {
                self.schedule.block_on(engine.checkpoint()).map_err(wrong)?;
            }
        }
        if self.neighbours.random.random() {
            self.schedule.block_on(engine.close()).map_err(wrong)
        } else {
            Ok(())
        }
    }

    /// Updates the copied backup. The original backup must not change.
    pub(super) fn use_linked_backup(&mut self, engine: &Engine) -> std::result::Result<(), Wrong> {
        if self.excuses.is_damaged() || self.disk.has_lost_power() {
            return Ok(());
        }
        let Some((states, whole)) = self.neighbours.linked.backup.take() else { return Ok(()) };
        self.check_backup(LINKED_BACKUP, &states, whole)?;
        let now = self.model.states();
        match self.schedule.block_on(engine.backup(LINKED_BACKUP)) {
            Ok(_) => self.check_backup(LINKED_BACKUP, &now, true)?,
            Err(error) => return Err(Wrong(format!("the backup of hard links received {error}"))),
        }
        self.look_at_backup()
    }
}

fn own_table() -> Result<TableName> {
    TableName::new("Linked")
}

/// Returns the number of rows in the table that exists only in the copy.
fn own_rows(engine: &Engine) -> Result<usize> {
    let (mut rows, mut from) = (0, None);
    loop {
        let page = pollster::block_on(engine.query(&own_table()?, &Query::new(KeyRange::ALL), from.as_ref()));
        match page {
            Err(error) if error.code() == ErrorCode::TableNotFound => return Ok(0),
            page => {
                let page = page?;
                rows += page.rows.len();
                from = page.continuation;
            }
        }
        if from.is_none() {
            return Ok(rows);
        }
    }
}

/// Creates the table that exists only in the copy.
async fn create(engine: &Engine) -> Result<()> {
    match engine.create_table(&own_table()?).await {
        Err(error) if error.code() == ErrorCode::TableAlreadyExists => Ok(()),
        created => created,
    }
}

/// Writes a row to the table that exists only in the copy.
async fn write(engine: &Engine, row: u32) -> Result<()> {
    let mut transaction = Transaction::new(PartitionKey::new("linked")?, Limits::PORTABLE)?;
    let mut content = RowWriter::new();
    content.property("Row", ValueRef::Int64(i64::from(row)));
    let kind = OperationKind::InsertOrReplace(content.finish());
    transaction.push(Operation { row_key: RowKey::new(format!("{row:05}"))?, kind })?;
    engine.submit(&own_table()?, transaction).await.map(drop)
}
