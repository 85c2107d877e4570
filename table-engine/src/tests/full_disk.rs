//! Tests that space on a full disk can be regained by deleting rows and tables.

use std::sync::{Mutex, PoisonError, mpsc};
use std::task::{Context, Waker};

use super::room::{fill, numbers, open, padded};
use super::sim::SimDisk;
use super::*;
use crate::disk::Disk;
use crate::failpoint::{Action, Hook, Step};

/// Polls a future once, which sends its request.
fn sent<T>(future: impl Future<Output = T>) -> std::pin::Pin<Box<impl Future<Output = T>>> {
    let mut future = Box::pin(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    future
}

/// Tests writes that are committed in the same groups as deletions. Such groups fill the disk as other groups do.
#[test]
fn a_disk_filled_next_to_deletions_is_freed_by_deletions() {
    let disk = Arc::new(SimDisk::default());
    let on: Arc<dyn Disk> = disk.clone();
    let gate = Arc::new(Mutex::new(()));
    let own = Arc::clone(&gate);
    let hook = Hook::new(move |step| {
        if step == Step::JournalWrite {
            drop(own.lock().unwrap_or_else(PoisonError::into_inner));
        }
        Action::Continue
    });
    let options = EngineOptions::new().disk(on).checkpoint_bytes(8 << 20).memtable_bytes(16 << 20);
    let engine = with_table(options.failpoints(hook).open("/sim").unwrap());
    disk.set_room(20 << 20);
    // A deletion of a missing row writes nothing, so it would not wait at the gate.
    write(&engine, "first", upsert(0)).unwrap();
    let table = employees();
    let remove = |row| sent(engine.submit(&table, transaction("Sales", vec![(row, delete())])));
    let mut last = 0;
    let error = loop {
        // The first group waits at the gate. Each group with the insert therefore also contains a deletion.
        let shut = gate.lock().unwrap();
        let first = remove("first");
        let before = remove("missing");
        let row = format!("{:04}", last + 1);
        let operations = vec![("first", upsert(0)), (row.as_str(), padded(last + 1))];
        let insert = sent(engine.submit(&table, transaction("Sales", operations)));
        let after = remove("missing");
        drop(shut);
        let _ = (wait(first), wait(before), wait(after));
        match wait(insert) {
            Ok(_) => last += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    assert!(last > 200, "{last}");
    for n in 1..=last {
        write(&engine, &format!("{n:04}"), delete()).unwrap();
    }
    wait(engine.compact()).unwrap();
    for n in last + 1..last + 200 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
}

/// Tests the deletion of a table whose rows are in memory, in the base, or in both.
#[test]
fn a_disk_filled_by_a_table_is_freed_by_its_deletion() {
    for (checkpoint_bytes, room) in [(1 << 20, 12 << 20), (48 << 20, 24 << 20), (1 << 30, 12 << 20)] {
        for reopened in [false, true] {
            let disk = Arc::new(SimDisk::default());
            let mut engine = with_table(open(&disk, checkpoint_bytes));
            disk.set_room(room);
            let (last, error) = fill(&engine, 1);
            assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
            assert!(last > 60, "{last}");
            for _ in 0..3 {
                wait(engine.delete_table(&employees())).unwrap();
                if reopened {
                    wait(engine.close()).unwrap();
                    engine = open(&disk, checkpoint_bytes);
                }
                let what = format!("space is free again, with {checkpoint_bytes}");
                eventually(&what, || wait(engine.create_table(&employees())).is_ok());
                for n in 1..=last * 8 / 10 {
                    eventually(&what, || write(&engine, &format!("{n:04}"), padded(n)).is_ok());
                }
                assert_eq!(numbers(&engine), (1..=last * 8 / 10).collect());
            }
        }
    }
}

/// Creates an engine whose checkpoint thread stops before it writes rows for the `count`th time. The receiver reports the stop. The thread continues when the
/// test uses or drops the sender.
fn stopped_at_write(disk: &Arc<SimDisk>, count: usize) -> (Engine, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (stopped, at_stop) = mpsc::channel();
    let (resume, resumed) = mpsc::channel();
    let state = Mutex::new((0, resumed));
    let hook = Hook::new(move |step| {
        if step == Step::CheckpointWrite {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.0 += 1;
            if state.0 == count {
                let _ = stopped.send(());
                let _ = state.1.recv();
            }
        }
        Action::Continue
    });
    let on: Arc<dyn Disk> = disk.clone();
    let options = EngineOptions::new().disk(on).checkpoint_bytes(1 << 30).memtable_bytes(1 << 31);
    (with_table(options.failpoints(hook).open("/sim").unwrap()), at_stop, resume)
}

/// Tests a write while a checkpoint is using the reserve. The checkpoint succeeds, even though the free space would allow the reserve to be restored before the
/// rows are written.
#[test]
fn a_write_does_not_take_the_reserve_from_a_checkpoint_that_uses_it() {
    let disk = Arc::new(SimDisk::default());
    let (engine, at_stop, resume) = stopped_at_write(&disk, 2);
    for n in 1..=200 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    // The next journal file fits into the free space, but the rows do not.
    disk.set_room(3 << 20);
    let checkpoint = sent(engine.checkpoint());
    at_stop.recv().unwrap();
    // The write is refused. Later writes wait for the checkpoint.
    assert_eq!(write(&engine, "0201", insert(201)).unwrap_err().code(), ErrorCode::DiskFull);
    let table = employees();
    let later = sent(engine.submit(&table, transaction("Sales", vec![("0202", insert(202))])));
    resume.send(()).unwrap();
    wait(checkpoint).unwrap();
    wait(later).unwrap();
}
