//! Tests backups that are made during reads and writes, and the data restored from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::RngExt;
use table_core::embedded::{Engine, EngineOptions};
use table_core::query::{KeyRange, Query};
use table_core::{ErrorCode, Result, TableStore};

use super::History;
use super::asks::Told;
use crate::power::Fault;
use crate::sim::model::{Number, Place, State, Wrong};
use crate::sim::plan::Trouble;
use crate::sim::rows::{self, Shape};

/// The folder for all backups of a history.
pub(super) const BACKUP: &str = "/backup";
/// The folder into which a backup is restored. Each restore uses a new disk.
const RESTORED: &str = "/restored";

/// The possible contents of the backup folder after the history so far.
#[derive(Default)]
pub(super) struct Backups {
    /// The number of the backup request in progress, if any.
    pub(super) under_way: Option<u64>,
    /// The number of the image request in progress, if any.
    pub(super) image_under_way: Option<u64>,
    /// `true` if a backup has succeeded. The folder then contains a complete backup even if later backups fail.
    pub(super) whole: bool,
    /// The states the backup may represent.
    pub(super) states: Vec<Arc<State>>,
}

/// The rows of all tables.
pub(super) type Tables = BTreeMap<u8, BTreeMap<Place, Number>>;

impl History {
    /// Requests a backup, unless a backup or an image is in progress.
    pub(super) fn ask_backup(&mut self, engine: &Engine) {
        if self.backups.under_way.is_some() || self.backups.image_under_way.is_some() {
            return;
        }
        let id = u64::from(self.next / super::NUMBERS);
        self.log.add(format!("{id}: asks for a backup"));
        self.backups.under_way = Some(id);
        self.model.begin_to_note();
        let (engine, disk) = (engine.clone(), self.disk.clone());
        // A backup makes few of the disk calls in a life. The power failure is therefore aimed at one of them.
        let may_cut = !matches!(self.life.trouble, Trouble::Disk(_)) && self.random.random_ratio(1, 2);
        let cut = may_cut.then(|| Fault::PowerAtCall(self.random.random_range(1..60)));
        let schedule = Arc::clone(&self.schedule);
        let future = async move {
            if let Some(cut) = cut {
                engine.checkpoint().await?;
                disk.set_fault(Some(cut));
                schedule.did(); // the next request
            }
            engine.backup(BACKUP).await.map(|_| Told::Lease(None))
        };
        self.ask(None, Box::pin(future));
    }

    /// Records that a request has succeeded. If the request was a backup, inspects the backup.
    pub(super) fn end_backup(&mut self, id: u64) -> Result<(), Wrong> {
        if self.backups.under_way != Some(id) {
            return Ok(());
        }
        (self.backups.under_way, self.backups.whole) = (None, true);
        self.backups.states = self.model.end_of_notes();
        self.may_restore_more();
        self.seen.backups += 1;
        if self.random.random() {
            self.look_at_backup()?;
        }
        self.back_up_copy(id)
    }

    /// Records that a request has failed, or that its caller no longer waits for the result. If the request was a backup, the folder may contain the new backup
    /// or the previous one.
    pub(super) fn give_up_backup(&mut self, id: u64) {
        if self.backups.image_under_way.take_if(|image| *image == id).is_some() {
            self.model.end_of_notes();
        }
        if self.backups.under_way == Some(id) {
            self.backups.under_way = None;
            self.backups.states.extend(self.model.end_of_notes());
            self.may_restore_more();
        }
    }

    /// Restores the backup to a new disk. Compares the result with the states that existed while the backup was made.
    pub(super) fn look_at_backup(&mut self) -> Result<(), Wrong> {
        self.check_backup(BACKUP, &self.backups.states, self.backups.whole)
    }

    /// Restores the backup in a folder to a new disk. Compares the result with the states that the backup may represent. If `whole` is `false`, the restore may
    /// fail.
    pub(super) fn check_backup(&self, folder: &str, states: &[Arc<State>], whole: bool) -> Result<(), Wrong> {
        if self.disk.has_lost_power() {
            return Ok(());
        }
        let disk = Arc::new(self.disk.after_kill());
        let options = || EngineOptions::new().disk(disk.clone());
        let restored = options().restore(folder, RESTORED);
        match restored
            .and_then(|_| options().open_read_only(RESTORED))
            .and_then(|engine| tables(&engine, self.shape))
        {
            Ok(found) => {
                let found = found.map_err(Wrong)?;
                if states.iter().any(|state| is_in(state, &found)) {
                    return Ok(());
                }
                Err(Wrong(format!(
                    "of the backup {folder} is restored what there never was while it was made: {found:?}"
                )))
            }
            Err(_) if !whole => Ok(()),
            Err(error) if self.may_fail(&error) => Ok(()),
            Err(error) => Err(Wrong(format!("the backup {folder} is not restored: {error}"))),
        }
    }
}

/// Returns `true` if a state has exactly these tables and rows.
pub(super) fn is_in(state: &State, found: &Tables) -> bool {
    state.tables.iter().map(|(table, kept)| (table, kept.rows())).eq(found)
}

/// Returns the rows of all tables in an engine, or a description of a defective row.
pub(super) fn tables(engine: &Engine, shape: Shape) -> Result<std::result::Result<Tables, String>> {
    let mut tables = Tables::new();
    for number in 0..shape.tables {
        let Ok(name) = rows::table(number) else { continue };
        let (mut found, mut from) = (BTreeMap::new(), None);
        loop {
            let page =
                match pollster::block_on(engine.query(&name, &Query::new(KeyRange::ALL), from.as_ref())) {
                    Err(error) if error.code() == ErrorCode::TableNotFound => break,
                    page => page?,
                };
            for entity in page.rows.iter() {
                let place = rows::place(entity.partition_key, entity.row_key);
                let row = place.ok_or_else(|| "a key that was not written".to_owned());
                match row.and_then(|place| Ok((place, shape.number(entity.row)?))) {
                    Ok((place, number)) => drop(found.insert(place, number)),
                    Err(wrong) => return Ok(Err(wrong)),
                }
            }
            from = page.continuation;
            if from.is_none() {
                tables.insert(number, found);
                break;
            }
        }
    }
    Ok(Ok(tables))
}
