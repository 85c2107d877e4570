//! Copies of a version of the base in other folders, each run checked after it was copied.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use crate::embedded::base::pool::{self, Pool};
use crate::embedded::base::run::Run;
use crate::embedded::base::verify::verify_run;
use crate::embedded::base::version::stored::{BASE, BASE_NEW, Stored};
use crate::embedded::base::{BaseView, Meta, Verification};
use crate::embedded::folder;
use crate::error::{Error, ErrorCode, Result};

/// What a backup or a restore did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyReport {
    /// Files of rows that were copied.
    pub copied_files: u64,
    /// Their bytes.
    pub copied_bytes: u64,
    /// Files of rows that were there from an earlier backup.
    pub kept_files: u64,
    /// Their bytes.
    pub kept_bytes: u64,
    /// Files of an earlier backup that are no longer needed, and were removed.
    pub removed_files: u64,
}

/// The runs of an earlier backup in a folder, by number.
type Earlier = HashMap<u64, (Uuid, u64)>;

impl BaseView {
    /// What it recorded.
    pub(crate) fn meta(&self) -> &Meta {
        &self.stored.meta
    }

    fn pool_in(&self, folder: &Path) -> Arc<Pool> {
        Arc::new(Pool::new(Arc::clone(&self.pool.disk), folder.to_owned(), 0))
    }

    /// Brings a folder to this version. What it holds of an earlier one stays whole until the new one is durable.
    pub(crate) fn back_up(&self, folder: &Path) -> Result<CopyReport> {
        let pool = self.pool_in(folder);
        let earlier = self.earlier(&pool)?;
        let report = self.copy_runs(&pool, &earlier)?;
        self.stored.write(&*pool.disk, folder)?;
        // IMPORTANT: after the record. Until it is durable the earlier backup needs its runs.
        let runs = self.stored.version.runs();
        let obsolete = |number| runs.binary_search_by_key(&number, |run| run.number).is_err();
        let left_over = |name: &str| name == BASE_NEW || pool::number(name).is_some_and(obsolete);
        let removed = folder::delete(&*pool.disk, folder, left_over).unwrap_or_else(|error| {
            // Harmless: the next backup removes them.
            tracing::warn!(target: "table_core::engine", %error, "obsolete files of a backup were not removed");
            0
        });
        Ok(CopyReport { removed_files: removed, ..report })
    }

    /// Copies it into a folder that has none.
    pub(crate) fn restore_to(&self, folder: &Path) -> Result<CopyReport> {
        let pool = self.pool_in(folder);
        let report = self.copy_runs(&pool, &Earlier::new())?;
        self.stored.write(&*pool.disk, folder)?;
        Ok(report)
    }

    /// The runs of the backup in a folder.
    ///
    /// # Errors
    /// `FolderNotOurs` if it is of another engine, or of another history of this one.
    fn earlier(&self, pool: &Arc<Pool>) -> Result<Earlier> {
        let names = pool.disk.list(&pool.folder).map_err(|error| {
            let what = format!("the folder {} cannot be read", pool.folder.display());
            crate::embedded::journal::failed(&what, error)
        })?;
        // The first backup into the folder was cut short.
        if !names.iter().any(|name| name == BASE) {
            return Ok(Earlier::new());
        }
        let earlier = Stored::read(pool)?;
        self.stored.check_follows(&earlier).map_err(|what| {
            let message = format!("the folder {} holds {what}: choose an empty one", pool.folder.display());
            Error::new(ErrorCode::FolderNotOurs, message)
        })?;
        let runs = earlier.version.runs();
        Ok(runs.iter().map(|run| (run.number, (run.identity, run.length))).collect())
    }

    fn copy_runs(&self, pool: &Arc<Pool>, earlier: &Earlier) -> Result<CopyReport> {
        let mut report = CopyReport::default();
        for run in self.stored.version.runs() {
            let copy = run.in_pool(pool);
            // One that cannot be read any more is copied anew: the earlier backup had lost it.
            if earlier.get(&run.number) == Some(&(run.identity, run.length)) && copy.read_directory().is_ok()
            {
                report.kept_files += 1;
                report.kept_bytes += run.length;
                continue;
            }
            run.copy_to(pool)?;
            check_copy(&run, &copy)?;
            report.copied_files += 1;
            report.copied_bytes += run.length;
        }
        Ok(report)
    }
}

/// Reads a copy back. Where it is broken, the error names the file that was broken first.
fn check_copy(run: &Run, copy: &Run) -> Result<()> {
    let check = |run: &Run| {
        let mut found = Verification::default();
        verify_run(run, &mut found)?;
        found.damage.into_iter().next().map_or(Ok(()), Err)
    };
    check(copy).or_else(|error| check(run).and(Err(error)))
}
