//! A test disk with a gate. While the gate is shut, no call proceeds. A copy of the folder is then in the state that a crash would leave.
//!
//! The disk ignores syncs, because they would take most of the time, and no test uses this disk to simulate a power loss.

use std::io;
use std::path::Path;
use std::sync::{Arc, RwLock};

use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};

/// A gate. It is shut while the lock is held for writing.
pub(crate) type Gate = Arc<RwLock<()>>;

#[derive(Debug, Default)]
pub(crate) struct GatedDisk(pub(crate) Gate);

#[derive(Debug)]
struct GatedFile(Gate, Arc<dyn DiskFile>);

impl Disk for GatedDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        let _open = self.0.read().unwrap();
        RealDisk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let _open = self.0.read().unwrap();
        Ok(Arc::new(GatedFile(Arc::clone(&self.0), RealDisk.open(path, create)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _open = self.0.read().unwrap();
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let _open = self.0.read().unwrap();
        RealDisk.remove(path)
    }

    fn sync_dir(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        RealDisk.lock(path)
    }
}

impl DiskFile for GatedFile {
    fn len(&self) -> io::Result<u64> {
        self.1.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.1.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _open = self.0.read().unwrap();
        self.1.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let _open = self.0.read().unwrap();
        self.1.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn has_other_names(&self) -> io::Result<bool> {
        self.1.has_other_names()
    }
}
