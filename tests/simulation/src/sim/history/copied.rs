//! Tests a copy of the engine's folder that another program has made. A backup of the copy must not replace a later backup of the original.

use std::path::Path;
use std::sync::Arc;

use pollster::block_on;
use table_core::embedded::testing::Disk;
use table_core::embedded::{Engine, EngineOptions};
use table_core::limits::Limits;
use table_core::row::{Row, RowWriter};
use table_core::{
    ErrorCode, Operation, OperationKind, PartitionKey, Result, RowKey, TableName, TableStore, Transaction,
    ValueRef,
};

use super::backups::{BACKUP, tables};
use super::{FOLDER, History};
use crate::power::SimulatedDisk;
use crate::sim::model::{NUMBERS, Wrong};

/// The folder that contains the copy.
const COPY: &str = "/copy";

impl History {
    /// Copies the engine's folder in its current state, without waiting for the engine.
    pub(super) fn copy_folder(&mut self) {
        if self.copied.is_none()
            && self.established
            && !self.excuses.is_damaged()
            && !self.disk.has_lost_power()
        {
            self.log.add("the folder is copied".to_owned());
            self.copied = Some((u64::from(self.next / NUMBERS), self.disk.after_kill()));
        }
    }

    /// Opens the copy, writes to it, and backs it up to the original's backup folder. This happens just after the last backup of the original has ended.
    ///
    /// If the backup of the copy succeeds, the folder must still contain the rows of the original. If the backup of the original was requested before the
    /// folder was copied, the copy may have later rows than that backup. The check is then skipped.
    pub(super) fn back_up_copy(&mut self, backup: u64) -> Result<(), Wrong> {
        if self.disk.has_lost_power() || self.excuses.is_damaged() {
            return Ok(());
        }
        let Some((_, copied)) = self.copied.take_if(|(next, _)| *next <= backup) else { return Ok(()) };
        let disk = Arc::new(self.disk.after_kill());
        let shape = self.shape;
        let held = |to: &str| {
            let options = || EngineOptions::new().disk(disk.clone());
            options().restore(BACKUP, to)?;
            tables(&options().open_read_only(to)?, shape)
        };
        // If a backup cannot be restored, another check reports this.
        let Ok(Ok(before)) = held("/before") else { return Ok(()) };
        let copy = put(&copied, &disk)
            .ok()
            .and_then(|()| EngineOptions::new().disk(disk.clone()).checkpoint_bytes(1_500).open(COPY).ok());
        let Some(copy) = copy else { return Ok(()) };
        // After these writes, the files of the copy have larger numbers than the files of the original.
        let _ = wear(&copy);
        let outcome = block_on(copy.backup(BACKUP)).map_err(|error| error.code());
        drop(copy);
        match outcome {
            Err(ErrorCode::FolderNotOurs) => Ok(()),
            Err(other) => Err(Wrong(format!("the backup of a copied folder ends with {other:?}"))),
            Ok(_) => match held("/after") {
                Ok(Ok(after)) if after == before => Ok(()),
                _ => Err(Wrong("the backup of a copied folder replaced later rows".to_owned())),
            },
        }
    }
}

/// Writes the files of the copied folder to a disk.
fn put(copied: &SimulatedDisk, disk: &SimulatedDisk) -> std::io::Result<()> {
    disk.create_dir(Path::new(COPY))?;
    for (path, length) in copied.files() {
        let Some(name) = path.file_name().filter(|_| path.parent() == Some(Path::new(FOLDER))) else {
            continue;
        };
        let mut bytes = vec![0; length];
        copied.open_to_read(&path)?.read_at(0, &mut bytes)?;
        disk.open(&Path::new(COPY).join(name), true)?.write_at(0, &bytes)?;
    }
    Ok(())
}

/// Writes rows to a table that does not exist in the original, and merges them several times.
fn wear(engine: &Engine) -> Result<()> {
    let table = TableName::new("Copied")?;
    block_on(engine.create_table(&table))?;
    for round in 0..20 {
        let mut transaction = Transaction::new(PartitionKey::new("copy")?, Limits::UNLIMITED)?;
        for number in 0..10 {
            let row_key = RowKey::new(number.to_string())?;
            transaction.push(Operation { row_key, kind: OperationKind::InsertOrReplace(row(round)) })?;
        }
        block_on(engine.submit(&table, transaction))?;
        block_on(engine.compact())?;
    }
    Ok(())
}

fn row(round: i32) -> Row {
    let mut writer = RowWriter::new();
    writer.property("N", ValueRef::Int32(round));
    writer.finish()
}
