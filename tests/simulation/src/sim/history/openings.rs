//! Tests folders in earlier formats, and a folder that is opened many times.

use std::path::Path;

use rand::RngExt;
use table_core::Error;

use super::backups::BACKUP;
use super::{FOLDER, History};
use crate::sim::model::Wrong;
use crate::sim::plan::Life;

/// The folder formats that precede the current one.
const EARLIER: std::ops::Range<u32> = 2..6;
/// A number of openings that is greater than a folder can record.
const MANY: usize = 260;

/// Returns the bytes of a manifest in the given format (`docs/format.md`, "Folder").
fn manifest(format: u32) -> Vec<u8> {
    let mut bytes = [&b"TABLES\r\n"[..], &format.to_le_bytes()].concat();
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

impl History {
    /// Replaces the manifest of the folder or of its backup with a manifest in an earlier format. The next engine upgrades it.
    pub(super) fn go_back_to_earlier_format(&mut self) {
        if !self.established || !self.neighbours.random.random_ratio(1, 6) {
            return;
        }
        let format = self.neighbours.random.random_range(EARLIER);
        for path in [Path::new(FOLDER).join("FORMAT"), Path::new(BACKUP).join("BACKUP")] {
            if self.disk.bytes(&path).is_some() && self.neighbours.random.random() {
                self.log.add(format!("{} is of format {format}", path.display()));
                self.disk.put(&path, &manifest(format));
                self.neighbours.is_earlier_format = true;
            }
        }
    }

    /// In some histories, opens the folder many times. Each opening records a version.
    pub(super) fn open_often(&mut self) -> Result<(), Wrong> {
        if !self.neighbours.open_often {
            return Ok(());
        }
        self.log.add(format!("the folder is opened {MANY} times"));
        let quiet = Life { relaxed: false, ..self.life.quiet() };
        let life = std::mem::replace(&mut self.life, quiet);
        let wrong = |error: Error| Wrong(format!("one of many openings received {error}"));
        for _ in 0..MANY {
            let engine = self.options().open(FOLDER).map_err(wrong)?;
            self.schedule.block_on(engine.checkpoint()).map_err(wrong)?;
        }
        self.life = life;
        self.established = true;
        Ok(())
    }
}
