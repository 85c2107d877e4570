//! Opens a version of the base for reading. This works even if a writer replaces the version and removes its files at the same time, possibly in another
//! process.

use std::path::Path;
use std::sync::Arc;

use table_store::{Error, Result};

use crate::base::fault::BaseFault;
use crate::base::version::stored::{self, BASE, Stored};
use crate::base::{BaseView, Place};

/// The maximum number of attempts to open a base that a writer keeps replacing.
const ATTEMPTS: usize = 1_000;

impl BaseView {
    /// Opens the base of a folder that no writer is changing. Its files are opened on demand, so a base of any size needs only a few file descriptors.
    pub(crate) fn open_alone(place: &Place) -> Result<Self> {
        let pool = Arc::new(place.new_pool());
        let stored = Stored::read(&pool)?;
        Ok(Self { pool, stored: Arc::new(stored) })
    }

    /// Returns the bytes of a folder's `BASE`, which identify its version.
    pub(crate) fn bytes_in(place: &Place) -> Result<Vec<u8>> {
        stored::read_bytes(&*place.disk, &place.folder.join(BASE))
    }

    /// Opens the base of a folder with all its files. The files remain readable even if a writer removes them later. `also` opens other resources of the same
    /// version.
    pub(crate) fn open_during_writes<T>(
        place: &Place,
        also: impl Fn(&Self) -> Result<T>,
    ) -> Result<(Self, T)> {
        let path = place.folder.join(BASE);
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let bytes = stored::read_bytes(&*place.disk, &path)?;
            match Self::open_version(place, &path, &bytes, &also) {
                // A file may be missing because the base was replaced before the file was opened. In that case, `BASE` has changed.
                Err(_) if before.as_ref() != Some(&bytes) => before = Some(bytes),
                outcome => return outcome,
            }
        }
        Err(Error::of(BaseFault::Replaced(path)))
    }

    fn open_version<T>(
        place: &Place,
        path: &Path,
        bytes: &[u8],
        also: impl Fn(&Self) -> Result<T>,
    ) -> Result<(Self, T)> {
        let pool = Arc::new(place.new_pool().pinning());
        let stored = Stored::parse(bytes, path, &pool)?;
        for run in stored.version.runs() {
            run.file()?;
        }
        let view = Self { pool, stored: Arc::new(stored) };
        let also = also(&view)?;
        Ok((view, also))
    }
}
