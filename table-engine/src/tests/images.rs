//! A simulated disk that saves an image of itself before every modifying call. The image is the state that a crash at that call would leave.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::sim::SimDisk;
use crate::disk::{Disk, DiskFile, DiskLock};

/// The saved images of a disk, in the order of the calls.
type Images = Arc<Mutex<Vec<Arc<SimDisk>>>>;

#[derive(Debug)]
pub(super) struct ImagingDisk {
    disk: Arc<SimDisk>,
    images: Images,
}

#[derive(Debug)]
struct ImagingFile {
    disk: Arc<SimDisk>,
    images: Images,
    file: Arc<dyn DiskFile>,
}

impl ImagingDisk {
    pub(super) fn new(disk: Arc<SimDisk>) -> Self {
        Self { disk, images: Images::default() }
    }

    /// Returns the images saved since the previous call to this function.
    pub(super) fn take(&self) -> Vec<Arc<SimDisk>> {
        std::mem::take(&mut *self.images.lock().unwrap())
    }

    fn keep(&self) {
        self.images.lock().unwrap().push(self.disk.image());
    }

    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(ImagingFile { disk: self.disk.clone(), images: self.images.clone(), file })
    }
}

impl ImagingFile {
    fn keep(&self) {
        self.images.lock().unwrap().push(self.disk.image());
    }
}

impl Disk for ImagingDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        self.keep();
        self.disk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        self.keep();
        Ok(self.file(self.disk.open(path, create)?))
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(self.disk.open_to_read(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.keep();
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.keep();
        self.disk.remove(path)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        self.keep();
        self.disk.sync_dir(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        self.keep();
        self.disk.lock(path)
    }
}

impl DiskFile for ImagingFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.keep();
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.keep();
        self.file.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.keep();
        self.file.sync_data()
    }
}
