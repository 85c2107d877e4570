//! Tests folders from earlier releases. Some histories begin with such a folder. Its tables must keep all rows.

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use table_core::embedded::testing::Disk;
use table_core::embedded::{Engine, EngineOptions};
use table_core::query::{KeyRange, Query};
use table_core::{Error, Result, Row, TableName, TableStore};

use super::{FOLDER, History};
use crate::fault::workspace;
use crate::sim::model::Wrong;

/// The formats of the folders in `tests/fixtures`.
const FORMATS: std::ops::Range<u32> = 2..7;
/// The names of the tables in these folders.
const TABLES: [&str; 2] = ["Everything", "Later"];

/// The two keys and the row of each entity.
pub(super) type Entities = Vec<(String, String, Row)>;

/// Decompresses a file. The file consists of groups. Each group is a length, that many bytes, the length of a run of equal bytes, and the byte that is
/// repeated.
fn unpack(mut packed: &[u8]) -> Option<Vec<u8>> {
    fn length(packed: &mut &[u8]) -> Option<usize> {
        let (length, rest) = packed.split_first_chunk()?;
        *packed = rest;
        usize::try_from(u32::from_le_bytes(*length)).ok()
    }
    let mut bytes = Vec::new();
    while !packed.is_empty() {
        let plain = length(&mut packed)?;
        let (plain, rest) = packed.split_at_checked(plain)?;
        bytes.extend(plain);
        packed = rest;
        let run = length(&mut packed)?;
        let (byte, rest) = packed.split_first()?;
        bytes.resize(bytes.len() + run, *byte);
        packed = rest;
    }
    Some(bytes)
}

/// Returns all entities in the tables that an earlier release has written.
fn entities(engine: &Engine) -> Result<Entities> {
    let mut found = Entities::new();
    for name in TABLES {
        let (name, mut from) = (TableName::new(name)?, None);
        loop {
            let page = pollster::block_on(engine.query(&name, &Query::new(KeyRange::ALL), from.as_ref()))?;
            found.extend(page.rows.iter().map(|entity| {
                (entity.partition_key.to_owned(), entity.row_key.to_owned(), entity.row.to_row())
            }));
            from = page.continuation;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(found)
}

impl History {
    /// In some histories, begins with a folder written by an earlier release.
    pub(super) fn begin_with_earlier_folder(&mut self) -> std::result::Result<(), Wrong> {
        if !self.neighbours.are_there || !self.neighbours.random.random_ratio(1, 6) {
            return Ok(());
        }
        let format = self.neighbours.random.random_range(FORMATS);
        self.log.add(format!("the folder is one of format {format}"));
        self.put_fixture(format).map_err(|error| Wrong(format!("no folder of format {format}: {error}")))?;
        let options = EngineOptions::new().disk(Arc::new(self.disk.clone()));
        let read = options.open_read_only(FOLDER).and_then(|engine| entities(&engine));
        let wrong = |error: Error| Wrong(format!("the folder of format {format} received {error}"));
        self.neighbours.earlier = Some(read.map_err(wrong)?);
        (self.established, self.neighbours.is_earlier_format) = (true, true);
        Ok(())
    }

    fn put_fixture(&self, format: u32) -> std::io::Result<()> {
        let folder = Path::new(FOLDER);
        for parent in folder.ancestors().collect::<Vec<_>>().into_iter().rev() {
            self.disk.create_dir(parent)?;
            parent.parent().map_or(Ok(()), |above| self.disk.sync_dir(above))?;
        }
        for file in std::fs::read_dir(workspace().join(format!("tests/fixtures/format-{format}")))? {
            let file = file?;
            if file.file_name() != "CONTENTS.txt" {
                let bytes = unpack(&std::fs::read(file.path())?).ok_or(std::io::ErrorKind::InvalidData)?;
                self.disk.put(&folder.join(file.file_name()), &bytes);
            }
        }
        Ok(())
    }

    /// Checks that the tables of the earlier release have the same rows as at the beginning.
    pub(super) fn check_earlier_rows(&self, engine: &Engine) -> std::result::Result<(), Wrong> {
        let Some(earlier) = &self.neighbours.earlier else { return Ok(()) };
        match entities(engine) {
            Ok(now) if now == *earlier => Ok(()),
            Err(error) if self.may_fail(&error) => Ok(()),
            Err(error) => Err(Wrong(format!("a read of the earlier tables received {error}"))),
            Ok(now) => Err(Wrong(format!("the earlier tables have {} rows: {now:?}", now.len()))),
        }
    }
}
