//! Tests that the base removes the rows of dropped tables, even if its files are temporarily unreadable.

use std::io;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::disk::{DiskFile, DiskLock};
use crate::tests::sim::SimDisk;

/// A disk that cannot open files for reading during an outage.
#[derive(Debug)]
struct Outages {
    disk: SimDisk,
    error: io::ErrorKind,
    is_out: AtomicBool,
}

impl Disk for Outages {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        self.disk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path, create)
    }

    fn open_to_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        if self.is_out.load(Ordering::SeqCst) { Err(self.error.into()) } else { self.disk.open(path, false) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn sync_dir(&self, folder: &Path) -> io::Result<()> {
        self.disk.sync_dir(folder)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        self.disk.lock(path)
    }
}

#[test]
fn rows_of_a_table_dropped_during_an_outage_leave_the_base_after_it() {
    // The first error is a lack of memory, the second is a permission error, and the third excludes a part of the base from merges.
    for error in [io::ErrorKind::OutOfMemory, io::ErrorKind::PermissionDenied, io::ErrorKind::Other] {
        let disk = Arc::new(Outages { disk: SimDisk::default(), error, is_out: AtomicBool::new(false) });
        let folder = Path::new("/base");
        disk.create_dir(folder).unwrap();
        let place = Place { disk: disk.clone(), ..place(folder) };
        let mut base = Base::create(&place, meta(&[1, 2])).unwrap();
        let (keys, row) = ([key_of(1, 1), key_of(2, 1)], row_of(1, 40));
        base.flush(keys.iter().map(|key| (&key[..], Some(row.view()))), meta(&[1, 2])).unwrap();
        drop(base);

        let mut base = Base::open(&place).unwrap();
        let dropped = Meta { dropped: vec![1], ..meta(&[2]) };
        base.flush(std::iter::empty(), dropped).unwrap();
        disk.is_out.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            base.merge().unwrap();
        }
        // This flush records a version with the list of dropped tables.
        base.flush(std::iter::empty(), meta(&[2])).unwrap();
        disk.is_out.store(false, Ordering::SeqCst);
        assert!(base.view().may_hold(&Span::table(1)), "{error:?}");
        drop(base);
        let mut base = Base::open(&place).unwrap();
        rest(&mut base);
        assert!(!base.view().may_hold(&Span::table(1)), "{error:?}");
        assert_eq!(base.view().get(&keys[1]).unwrap(), Some(row), "{error:?}");
    }
}
