//! Verifies all checksums of a backup.

use std::collections::HashSet;

use table_core::ErrorCode;
use table_core::embedded::VerifiedFiles;

use crate::backup::generation::{Contents, Generation, Layer, TableRows};
use crate::backup::layer::LayerReader;
use crate::backup::merged::Merged;
use crate::backup::repository::Repository;
use crate::backup::view::ViewFolder;
use crate::failure::{Failure, Result};
use crate::transfer::checksum::Checksum;
use crate::transfer::ordered::Entities;

/// The result of a verification.
#[derive(Debug, Default)]
pub struct Verified {
    /// The number of generations that were checked.
    pub generations: u64,
    /// The number of layers and engine files that were checked.
    pub files: u64,
    /// The number of rows in the intact tables of the newest generation.
    pub rows: u64,
    /// The number of rows that the newest generation lacks, or contains in an earlier version, because the store omitted them.
    pub omitted: u64,
    /// A description of each defect found, such as a corrupted or missing file.
    pub damage: Vec<String>,
}

/// Reads each layer once: merges the tables of the newest generation and compares their checksums, and then reads the layers that only older generations contain.
/// The layers of a damaged table are read again one by one. Fetches each engine file once from the storage, unless the storage is on this machine, and reads it
/// once.
///
/// # Errors
/// `File` or `Store` if a file cannot be read now, for example because the network or the disk fails. Corruption is reported in the result, not as an error.
pub async fn verify(repository: &Repository) -> Result<Verified> {
    let (mut found, mut seen) = (Findings::default(), HashSet::new());
    let mut view = None;
    let ids = repository.ids()?;
    for (age, id) in ids.iter().rev().enumerate() {
        found.verified.generations += 1;
        let generation = match repository.read(id) {
            Ok(generation) => generation,
            Err(failure) => {
                found.note(failure)?;
                continue;
            }
        };
        match &generation.contents {
            Contents::Files { files, .. } => {
                let unseen = files.iter().filter(|file| seen.insert(file.name.clone()));
                found.verified.files += unseen.count() as u64;
                if view.is_none() {
                    view = Some(ViewFolder::create(repository.storage().local())?);
                }
                if let Some(view) = &view {
                    found.files_of(repository, &generation, view)?;
                }
            }
            Contents::Rows { tables } => {
                for table in tables {
                    let unseen = |layer: &&Layer| seen.insert(layer.file.clone());
                    let layers: Vec<_> = table.layers.iter().filter(unseen).collect();
                    found.verified.files += layers.len() as u64;
                    if age == 0 {
                        found.verified.omitted += table.omitted;
                        match rows_of(repository, table).await {
                            Ok(rows) => {
                                found.verified.rows += rows;
                                continue;
                            }
                            Err(failure) => found.note(failure)?,
                        }
                    }
                    for layer in layers {
                        let read = read_layer(repository, layer);
                        read.or_else(|failure| found.note(failure))?;
                    }
                }
            }
        }
    }
    Ok(found.verified)
}

/// The result of an unfinished verification.
#[derive(Default)]
struct Findings {
    verified: Verified,
    /// The defects found so far. A set is used because several generations can contain the same corrupted file.
    known: HashSet<String>,
    /// The engine files read so far.
    engine_files: VerifiedFiles,
}

impl Findings {
    fn add(&mut self, damage: String) {
        if self.known.insert(damage.clone()) {
            self.verified.damage.push(damage);
        }
    }

    /// If an error is permanent, adds it to the result as a defect. Returns any other error, such as a disk error, which ends the verification.
    fn note(&mut self, failure: Failure) -> Result<()> {
        if !is_damage(&failure) {
            return Err(failure);
        }
        self.add(failure.to_string());
        Ok(())
    }

    /// Verifies a generation that consists of engine files.
    fn files_of(
        &mut self,
        repository: &Repository,
        generation: &Generation,
        view: &ViewFolder,
    ) -> Result<()> {
        let shown = view.show(repository, generation);
        match shown.and_then(|engine| Ok(engine.verify_rest(&mut self.engine_files)?)) {
            Ok(verified) => verified.damage.iter().for_each(|damage| self.add(damage.to_string())),
            Err(failure) => self.note(failure)?,
        }
        Ok(())
    }
}

/// Returns `true` if an error is permanent: a file is missing or has wrong content. Repeating the verification would not help.
fn is_damage(failure: &Failure) -> bool {
    match failure {
        Failure::Refused(_) => true,
        Failure::File { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        Failure::Store(error) => matches!(
            error.code(),
            ErrorCode::Corrupted
                | ErrorCode::FolderNotOurs
                | ErrorCode::FormatTooNew
                | ErrorCode::FormatTooOld
        ),
        Failure::Usage(_) => false,
    }
}

fn read_layer(repository: &Repository, layer: &Layer) -> Result<()> {
    let mut reader =
        LayerReader::open(&**repository.storage(), &repository.layer(&layer.file), layer.end.clone())?;
    while reader.next_record()?.is_some() {}
    Ok(())
}

/// Merges the layers of a table and verifies its checksum. Returns the number of rows.
async fn rows_of(repository: &Repository, table: &TableRows) -> Result<u64> {
    let (mut rows, mut checksum) = (Merged::open(repository, Some(table))?, Checksum::default());
    while let Some(entity) = rows.next().await? {
        checksum.add(&entity);
    }
    if checksum.count != table.rows || checksum.to_string() != table.checksum {
        return Err(Failure::Refused(format!(
            "the checksum of the rows of {} differs from the recorded one",
            table.name
        )));
    }
    Ok(checksum.count)
}

#[cfg(test)]
mod tests {
    use table_core::Error;

    use super::*;

    #[test]
    fn a_temporary_failure_is_not_reported_as_damage() {
        for (code, expected) in [
            (ErrorCode::Corrupted, true),
            (ErrorCode::FolderNotOurs, true),
            (ErrorCode::FormatTooNew, true),
            (ErrorCode::FormatTooOld, true),
            (ErrorCode::ServerBusy, false),
            (ErrorCode::OperationTimedOut, false),
            (ErrorCode::Io, false),
            (ErrorCode::DiskFull, false),
            (ErrorCode::EngineClosed, false),
        ] {
            let failure = Failure::Store(Error::new(code, "the store failed"));
            assert_eq!(Findings::default().note(failure).is_ok(), expected, "{code:?}");
        }
        for (kind, expected) in [
            (std::io::ErrorKind::NotFound, true),
            (std::io::ErrorKind::Other, false),
            (std::io::ErrorKind::StorageFull, false),
        ] {
            let failure = Failure::file("rows/a.rows")(kind.into());
            assert_eq!(Findings::default().note(failure).is_ok(), expected, "{kind}");
        }
    }
}
