//! Tests that no acknowledged write is lost if the disk fails at any call. The failure may be permanent or temporary.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::disk::{Disk, DiskFile, DiskLock, RealDisk};

/// The kinds of calls that a disk refuses once its call quota is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refuses {
    /// Writes are refused, as on a full disk.
    Writes,
    /// Syncs are refused, but writes succeed.
    Syncs,
    /// Every call that modifies the disk is refused.
    Everything,
}

#[derive(Debug)]
struct Quota {
    refuses: Refuses,
    left: AtomicI64,
}

impl Quota {
    fn take(&self, what: Refuses) -> io::Result<()> {
        if (self.refuses == what || self.refuses == Refuses::Everything)
            && self.left.fetch_sub(1, Ordering::SeqCst) <= 0
        {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "refused by the test"));
        }
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyDisk(Arc<Quota>);

#[derive(Debug)]
struct FaultyFile(Arc<Quota>, Arc<dyn DiskFile>);

impl Disk for FaultyDisk {
    fn create_dir(&self, folder: &Path) -> io::Result<()> {
        RealDisk.create_dir(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(folder)
    }

    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        if create {
            self.0.take(Refuses::Everything)?;
        }
        Ok(Arc::new(FaultyFile(Arc::clone(&self.0), RealDisk.open(path, create)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.take(Refuses::Everything)?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.take(Refuses::Everything)?;
        RealDisk.remove(path)
    }

    fn sync_dir(&self, _folder: &Path) -> io::Result<()> {
        self.0.take(Refuses::Syncs)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        RealDisk.lock(path)
    }
}

impl DiskFile for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.1.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.1.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let outcome = self.0.take(Refuses::Writes);
        // On a full disk, a write is short: only the first half of the bytes is written.
        let taken = if outcome.is_ok() { bytes.len() } else { bytes.len() / 2 };
        self.1.write_at(offset, &bytes[..taken])?;
        outcome
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.take(Refuses::Writes)?;
        self.1.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.take(Refuses::Syncs)
    }
}

/// Opens an engine, writes rows, and runs checkpoints until the disk fails. Returns the number of acknowledged writes. The second value is `true` if no call
/// failed.
fn work(folder: &Path, quota: &Arc<Quota>) -> (i32, bool) {
    let Ok(engine) = EngineOptions::new().disk(Arc::new(FaultyDisk(quota.clone()))).open(folder) else {
        return (0, false);
    };
    let mut acknowledged = 0;
    let mut well = wait(engine.create_table(&employees())).is_ok();
    for n in 1..=4 {
        let outcome = write(&engine, &n.to_string(), insert(n));
        if let Err(error) = &outcome {
            assert!(matches!(error.code(), ErrorCode::EnginePoisoned | ErrorCode::DiskFull), "{error}");
        } else {
            assert!(well, "a write after the refusal");
            acknowledged = n;
        }
        well &= outcome.is_ok();
        if n == 2 {
            well &= wait(engine.compact()).is_ok();
        }
        // Readers see all acknowledged writes. They may also see the write whose outcome is unknown.
        if well {
            assert_eq!(all(&engine).len(), usize::try_from(n).unwrap());
        }
    }
    well &= wait(engine.close()).is_ok();
    (acknowledged, well)
}

#[test]
fn f4_con_1_a_full_or_failing_disk_loses_no_acknowledged_write() {
    for refuses in [Refuses::Writes, Refuses::Syncs, Refuses::Everything] {
        for calls in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let quota = Arc::new(Quota { refuses, left: AtomicI64::new(calls) });
            let (acknowledged, well) = work(folder.path(), &quota);
            // The disk has free space again.
            let engine = on_disk(folder.path());
            let found: Vec<i32> = all(&engine).into_iter().map(|(_, _, n)| n).collect();
            let kept = i32::try_from(found.len()).unwrap();
            assert!(found.iter().copied().eq(1..=kept), "{refuses:?} after {calls}: {found:?}");
            assert!(kept >= acknowledged, "{refuses:?} after {calls}: {kept} of {acknowledged}");
            write(&engine, "more", insert(9)).unwrap();
            wait(engine.checkpoint()).unwrap();
            if well {
                assert!(calls > 10, "the disk was used");
                break;
            }
        }
    }
}
