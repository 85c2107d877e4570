//! Copies a version of the base without the unreadable parts.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use table_store::{Error, ErrorCode, Result};

use crate::base::copy::{check_copy, pool_in};
use crate::base::run::{Run, RunWriter};
use crate::base::verify::read_checked;
use crate::base::version::stored::Stored;
use crate::base::version::{Version, layer};
use crate::base::{BaseView, CopyReport};
use crate::disk::Disk;
use crate::event::event;

/// An unreadable key range of a run. Both ends are inclusive.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) first: Box<[u8]>,
    pub(crate) last: Box<[u8]>,
    pub(crate) cause: Error,
}

/// The copies that replace corrupted runs, keyed by run number. The value is `None` if no part of the run can be read.
type Replaced = HashMap<u64, Option<Arc<Run>>>;

impl BaseView {
    /// Copies this version into a folder that contains no other version. Unreadable blocks are omitted, and their key ranges are returned.
    pub(crate) fn salvage_to(
        &self,
        disk: &Arc<dyn Disk>,
        folder: &Path,
    ) -> Result<(CopyReport, Vec<Unreadable>)> {
        let pool = pool_in(disk, folder);
        let (mut report, mut lost, mut replaced) = (CopyReport::default(), Vec::new(), Replaced::new());
        let mut next = self.stored.next;
        for run in self.stored.version.runs() {
            let copy = run.in_pool(&pool);
            let length = match run.copy_to(&pool).and_then(|()| check_copy(&run, &copy)) {
                Err(error) if error.code() == ErrorCode::Corrupted => {
                    // A failure is harmless: the copied base does not refer to the file.
                    let _ = copy.remove();
                    let found = lost.len();
                    let part = rewrite(&run, RunWriter::create(&pool, next)?, &mut lost)?;
                    if part.is_none() {
                        let _ = pool.remove(next);
                    }
                    if lost.len() == found {
                        // The second attempt read the run completely.
                        event!(debug, %error, "a damaged run was read in a second attempt");
                    }
                    next += 1;
                    let length = part.as_ref().map(|part| part.length);
                    replaced.insert(run.number, part);
                    length
                }
                copied => copied.map(|()| Some(run.length))?,
            };
            report.copied_files += u64::from(length.is_some());
            report.copied_bytes += length.unwrap_or_default();
        }
        let version = Arc::new(with_replaced(&self.stored.version, &replaced)?);
        Stored { next, version, ..Stored::clone(&self.stored) }.write(&**disk, folder)?;
        Ok((report, lost))
    }
}

/// Writes the readable blocks of a run, and adds the key ranges of the unreadable blocks to `lost`.
fn rewrite(run: &Run, mut writer: RunWriter, lost: &mut Vec<Unreadable>) -> Result<Option<Arc<Run>>> {
    let mut note = |first: &[u8], last: &[u8], cause: Error| match cause.code() {
        ErrorCode::Corrupted => {
            lost.push(Unreadable { first: first.into(), last: last.into(), cause });
            Ok(())
        }
        _ => Err(cause),
    };
    let directory = match run.read_directory() {
        Ok(directory) => directory,
        Err(error) => return note(&run.first, &run.last, error).map(|()| None),
    };
    let mut is_empty = true;
    for index in 0..directory.len() {
        match read_checked(run, &directory, index) {
            Ok((block, _)) => {
                let mut joined = Vec::new();
                block.visit(|key, row| {
                    writer.push(key.join(&mut joined), row)?;
                    Ok(ControlFlow::Continue(()))
                })?;
                writer.end_block()?;
                is_empty = false;
            }
            Err(error) => note(&directory.first(index), &directory.last(index), error)?,
        }
    }
    if is_empty { Ok(None) } else { Ok(Some(Arc::new(writer.finish()?))) }
}

/// Returns a version that refers to the copies of corrupted runs instead of the originals.
fn with_replaced(version: &Version, replaced: &Replaced) -> Result<Version> {
    let mut changed = Version::clone(version);
    for (index, segment) in version.segments().iter().enumerate() {
        let mut layers = Vec::new();
        for whole in &segment.layers {
            let Some(part) = replaced.get(&whole.run.number) else {
                layers.push(whole.clone());
                continue;
            };
            let Some(run) = part else { continue };
            layers.extend(layer(run, &segment.start, version.end(index))?);
        }
        changed.set(index, layers);
    }
    Ok(changed)
}
