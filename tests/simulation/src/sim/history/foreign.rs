//! Tests that the engine does not change the files of other programs in its folder. Their names may resemble the names of the engine's files.

use std::path::{Path, PathBuf};

use rand::RngExt;

use super::{FOLDER, History};
use crate::sim::model::Wrong;

const NAMES: [&str; 8] = [
    "7.journal",
    "+000000009.journal",
    "00000000003.journal",
    "0000000002.journal.bak",
    "5.rows",
    "+000000001.rows",
    "0000000001.rows~",
    "BASE.old",
];

/// Returns the bytes of another program's file, derived from its path.
fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().repeat(3)
}

impl History {
    /// In some cases, adds another program's file to the engine's folder.
    pub(super) fn add_foreign_file(&mut self) {
        if self.established && self.neighbours.random.random_ratio(1, 3) {
            let path = Path::new(FOLDER).join(NAMES[self.neighbours.random.random_range(0..NAMES.len())]);
            self.log.add(format!("another program writes {}", path.display()));
            self.disk.put(&path, &bytes(&path));
            self.neighbours.foreign.insert(path);
        }
    }

    /// Returns `true` if a file belongs to another program.
    pub(super) fn is_foreign(&self, path: &PathBuf) -> bool {
        self.neighbours.foreign.contains(path)
    }

    /// Checks that the files of other programs have not changed.
    pub(super) fn check_foreign_files(&self) -> Result<(), Wrong> {
        match self.neighbours.foreign.iter().find(|path| self.disk.bytes(path).as_ref() != Some(&bytes(path)))
        {
            Some(path) => Err(Wrong(format!("the file {} of another program was changed", path.display()))),
            None => Ok(()),
        }
    }
}
