//! Our files under redb.

use std::io;
use std::sync::Arc;

use redb::StorageBackend;

use crate::embedded::disk::DiskFile;

/// A file of the engine's disk as redb wants it. The folder's lock makes redb's own locks needless.
#[derive(Debug)]
pub(super) struct Backend(pub(super) Arc<dyn DiskFile>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, data)
    }
}
