//! Verification of a base version. It reads all files and lists the corruption found.

use std::collections::HashSet;
use std::ops::ControlFlow;

use table_store::{Error, Result};
use uuid::Uuid;

use crate::base::cache::Block;
use crate::base::fault::{BaseFault, Damage};
use crate::base::run::{Directory, Run};
use crate::base::tally::Tally;
use crate::base::version::stored::{self, BASE, Copies};
use crate::base::{BaseView, filter};
use crate::disk::fault::is_shortage;

/// The result of [`Engine::verify`](crate::Engine::verify).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// The number of row files checked.
    pub runs: u64,
    /// The number of blocks checked within the row files.
    pub blocks: u64,
    /// The number of rows and tombstones checked. A replaced row counts until a merge removes it.
    pub entries: u64,
    /// The corruption found. Each error contains the file and the offset.
    pub damage: Vec<Error>,
}

impl Verification {
    /// Returns `true` if no corruption was found.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
    }

    fn note(&mut self, outcome: Result<()>) {
        self.damage.extend(outcome.err());
    }
}

/// The row files that [`Engine::verify_rest`](crate::Engine::verify_rest) has read completely.
///
/// A file is identified by its content as recorded in the base, not by its path. Use one value only for folders that share files, such as the generations of
/// one backup: a copy of a file is taken for the file itself.
#[derive(Clone, Debug, Default)]
pub struct VerifiedFiles(HashSet<VerifiedRun>);

/// A run as recorded in the base. The verification compares these values with the content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct VerifiedRun {
    number: u64,
    identity: Uuid,
    length: u64,
    first: Box<[u8]>,
    last: Box<[u8]>,
}

impl VerifiedRun {
    fn of(run: &Run) -> Self {
        let Run { number, identity, length, ref first, ref last, .. } = *run;
        Self { number, identity, length, first: first.clone(), last: last.clone() }
    }
}

impl BaseView {
    /// Reads and checks all files of the version, bypassing the cache.
    #[cfg(test)]
    pub(crate) fn verify(&self) -> Verification {
        self.verify_rest(&mut VerifiedFiles::default())
    }

    /// Reads and checks all files of the version except those in `verified`, bypassing the cache. Adds the files to `verified`.
    pub(crate) fn verify_rest(&self, verified: &mut VerifiedFiles) -> Verification {
        let mut found = Verification::default();
        found.note(self.verify_base());
        for run in self.stored.version.runs() {
            let file = VerifiedRun::of(&run);
            if verified.0.contains(&file) {
                continue;
            }
            found.runs += 1;
            let before = found.damage.len();
            let outcome = verify_run(&run, &mut found);
            found.note(outcome);
            // A file that could not be read for lack of resources must be read again.
            if !found.damage.iter().skip(before).any(is_shortage) {
                verified.0.insert(file);
            }
        }
        found
    }

    fn verify_base(&self) -> Result<()> {
        let path = self.pool.folder.join(BASE);
        let copies = Copies::of(&stored::read_bytes(&*self.pool.disk, &path)?);
        let offset = match (&copies.first, &copies.second) {
            (Some(first), Some(second)) if first == second => return Ok(()),
            (Some(_), _) => copies.half,
            (None, _) => 0,
        };
        Err(Error::of(BaseFault::BrokenCopy { file: path, offset }))
    }
}

pub(super) fn verify_run(run: &Run, found: &mut Verification) -> Result<()> {
    let directory = run.read_directory()?;
    let ends = (directory.first(0), directory.last(directory.len().saturating_sub(1)));
    if ends != (run.first.to_vec(), run.last.to_vec()) {
        return Err(run.corrupted(0, Damage::KeysOfBase));
    }
    let mut entries = 0;
    for index in 0..directory.len() {
        found.blocks += 1;
        let outcome = read_checked(run, &directory, index).map(|(_, tally)| entries += tally.entries);
        found.note(outcome);
    }
    found.entries += entries;
    Ok(())
}

/// Reads a block and checks that its entries are consistent with each other and with the directory.
pub(super) fn read_checked(run: &Run, directory: &Directory, index: usize) -> Result<(Block, Tally)> {
    let (offset, _) = directory.place(index);
    let block = run.read_block_of(directory, index)?;
    let (mut first, mut last, mut joined) = (None, Vec::new(), Vec::new());
    let mut tally = Tally::default();
    block.visit(|key, row| {
        let key = key.join(&mut joined);
        let in_order = first.is_none() || last.as_slice() < key;
        if !in_order || !filter::may_hold(directory.filter(), filter::hash(key)) {
            return Err(run.corrupted(offset, Damage::Order));
        }
        if let Some(row) = row {
            row.check_version().map_err(|error| run.broken_rows(offset, error))?;
        }
        first.get_or_insert_with(|| key.to_vec());
        last.clear();
        last.extend_from_slice(key);
        tally.add(key, row);
        Ok(ControlFlow::Continue(()))
    })?;
    if first != Some(directory.first(index)) || last != directory.last(index) {
        return Err(run.corrupted(offset, Damage::KeysOfIndex));
    }
    if directory.tally(index).is_some_and(|written| written != tally) {
        return Err(run.corrupted(offset, Damage::Tally));
    }
    Ok((block, tally))
}
