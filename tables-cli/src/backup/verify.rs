//! Verifies all checksums of a backup.

use std::collections::HashSet;

use crate::backup::files::View;
use crate::backup::generation::{Contents, Generation, TableRows};
use crate::backup::layer::LayerReader;
use crate::backup::merged::Merged;
use crate::backup::repository::Repository;
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
    /// The number of rows in the verified tables.
    pub rows: u64,
    /// A description of each damage that was found.
    pub damage: Vec<String>,
}

/// Reads each layer and each engine file once. If they are undamaged, also merges the tables of the newest generation and compares their checksums.
///
/// # Errors
/// `File` if a folder cannot be read. Damage is returned in the result and is not an error.
pub async fn verify(repository: &Repository) -> Result<Verified> {
    let (mut found, mut seen) = (Verified::default(), HashSet::new());
    let ids = repository.ids()?;
    for id in &ids {
        found.generations += 1;
        let generation = match repository.read(id) {
            Ok(generation) => generation,
            Err(failure) => {
                note(&mut found, failure)?;
                continue;
            }
        };
        match &generation.contents {
            Contents::Files { files, .. } => {
                found.files += files.iter().filter(|file| seen.insert(file.name.clone())).count() as u64;
                files_of(repository, &generation, &mut found)?;
            }
            Contents::Rows { tables } => {
                let layers = tables.iter().flat_map(|table| &table.layers);
                for layer in layers.filter(|layer| seen.insert(layer.file.clone())) {
                    found.files += 1;
                    let read = read_layer(repository, layer);
                    read.or_else(|failure| note(&mut found, failure))?;
                }
                if ids.last() == Some(id) && found.damage.is_empty() {
                    for table in tables {
                        let rows = rows_of(repository, table).await;
                        found.rows += rows.or_else(|failure| note(&mut found, failure).map(|()| 0))?;
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Adds an error that means damage to the result. Returns any other error, such as a disk error. Such an error ends the verification.
fn note(found: &mut Verified, failure: Failure) -> Result<()> {
    match failure {
        Failure::File { path, source } if source.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::File { path, source })
        }
        failure => {
            found.damage.push(failure.to_string());
            Ok(())
        }
    }
}

fn read_layer(repository: &Repository, layer: &crate::backup::generation::Layer) -> Result<()> {
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

/// Verifies a generation that consists of engine files.
fn files_of(repository: &Repository, generation: &Generation, found: &mut Verified) -> Result<()> {
    match View::of_generation(repository, generation).and_then(|view| Ok(view.engine.verify()?)) {
        Ok(verified) => found.damage.extend(verified.damage.iter().map(ToString::to_string)),
        Err(failure) => note(found, failure)?,
    }
    Ok(())
}
