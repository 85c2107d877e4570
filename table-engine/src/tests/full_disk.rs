//! Tests that space on a full disk becomes free when rows and tables are deleted.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError, mpsc};
use std::task::{Context, Waker};

use table_store::queue::{PutMessage, QueueName, QueueStore};

use super::room::{fill, numbers, open, padded};
use super::sim::SimDisk;
use super::*;
use crate::disk::Disk;
use crate::failpoint::{Action, Hook, Step};

/// Polls a future once, so it sends its request.
fn sent<T>(future: impl Future<Output = T>) -> Pin<Box<impl Future<Output = T>>> {
    let mut future = Box::pin(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    future
}

/// Tests inserts that are committed in the same groups as deletions. Such groups may fill the disk. Deletions must still be able to free space.
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
    // Deleting a missing row would write nothing and would not block at the gate, so the row is inserted first.
    write(&engine, "first", upsert(0)).unwrap();
    let table = employees();
    let remove = |row| sent(engine.submit(&table, transaction("Sales", vec![(row, delete())])));
    let mut last = 0;
    let error = loop {
        // The first group blocks at the gate until more requests are queued, so each group with the insert also contains a deletion.
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
    assert!(last > 100, "{last}");
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

/// Tests the deletion of a table while a snapshot needs the table's files. After the snapshot has been dropped, the first refused write must trigger the
/// removal of the files.
#[test]
fn a_disk_filled_by_the_files_of_a_snapshot_is_freed_after_the_snapshot_is_dropped() {
    let disk = Arc::new(SimDisk::default());
    let engine = with_table(open(&disk, 1 << 20));
    disk.set_room(12 << 20);
    let (_, error) = fill(&engine, 1);
    assert_eq!(error.code(), ErrorCode::DiskFull, "{error}");
    let snapshot = engine.snapshot().unwrap();
    wait(engine.delete_table(&employees())).unwrap();
    // The checkpoint thread has nothing else to do.
    eventually("the rows leave the base", || engine.statistics().unwrap().base_bytes == 0);
    // The engine frees some more space until its threads are idle, and also after the first refusal. The test simulates another program that uses up this
    // space.
    let is_refused = || {
        disk.set_room(0);
        match wait(engine.create_table(&employees())) {
            Ok(()) => wait(engine.delete_table(&employees())).is_err(),
            Err(error) => error.code() == ErrorCode::DiskFull,
        }
    };
    for _ in 0..2 {
        eventually("the disk is full", is_refused);
    }
    disk.set_room(0);
    drop(snapshot);
    eventually("space is free again", || wait(engine.create_table(&employees())).is_ok());
}

/// Tests a base of many small runs with long keys. Its `BASE` file is larger than the runs, and needs more space than a small reserve has.
#[test]
fn a_disk_filled_by_a_large_base_file_is_freed_by_deletions() {
    let disk = Arc::new(SimDisk::default());
    let engine = with_table(open(&disk, 2_000));
    disk.set_room(9 << 19);
    let table = employees();
    let write = |n: i32, operation| {
        let partition = format!("{n:04}{}", "p".repeat(500));
        wait(engine.submit(&table, transaction(&partition, vec![("k".repeat(500).as_str(), operation)])))
    };
    let is_refused = |n| write(n, upsert(n)).is_err_and(|error| error.code() == ErrorCode::DiskFull);
    let last = (1..10_000).find(|n| is_refused(*n)).unwrap();
    assert!(last > 100, "{last}");
    for n in 1..last {
        write(n, delete()).unwrap();
    }
    // Merges free the space of the runs gradually.
    for n in 1..20 {
        eventually("space is free again", || !is_refused(n));
    }
}

/// Tests deletions of rows with long keys. Such a deletion needs as much space as a row with values. The folder has just been opened, so the reserve is small.
#[test]
fn rows_with_long_keys_can_be_deleted_on_a_full_disk() {
    for length in [4, 1_000] {
        let disk = Arc::new(SimDisk::default());
        let on: Arc<dyn Disk> = disk.clone();
        let options = EngineOptions::new().disk(on);
        let engine = with_table(options.clone().open("/sim").unwrap());
        let table = employees();
        let submit = |engine: &Engine, n: i32, operation| {
            let key = format!("{n:04}{}", "k".repeat(length / 2 - 2));
            wait(engine.submit(&table, transaction(&key, vec![(key.as_str(), operation)])))
        };
        let rows = 2_500;
        for n in 1..=rows {
            submit(&engine, n, upsert(n)).unwrap();
        }
        wait(engine.close()).unwrap();
        let engine = options.open("/sim").unwrap();
        disk.set_room(0);
        for n in 1..=rows {
            submit(&engine, n, delete()).unwrap();
        }
        wait(engine.compact()).unwrap();
        // Small rows free less space than the journal reserves ahead.
        disk.set_room(2 << 20);
        submit(&engine, 1, upsert(1)).unwrap();
    }
}

/// Tests a checkpoint that does not fit on the disk. The engine writes nothing until space becomes available. It then completes the checkpoint soon.
#[test]
fn a_checkpoint_that_does_not_fit_is_not_written_again_and_again() {
    let disk = Arc::new(SimDisk::default());
    let engine = with_table(open(&disk, 64 << 20));
    let checkpoint = |engine: &Engine| wait(engine.checkpoint()).is_ok();
    for n in 1..300 {
        write(&engine, &format!("{n:04}"), padded(n)).unwrap();
    }
    // Another program fills the disk, and the reserve is used.
    let file = disk.open("/sim/RESERVE".as_ref(), false).unwrap();
    file.set_len(0).unwrap();
    disk.set_room(4 << 20);
    assert!(!checkpoint(&engine));
    let written = disk.written();
    assert!((0..5).all(|_| !checkpoint(&engine)));
    assert_eq!(disk.written() - written, 0);
    disk.set_room(64 << 20);
    eventually("the checkpoint is complete", || checkpoint(&engine));
}

/// Creates an engine whose checkpoint thread pauses before it writes rows for the `count`th time. The receiver reports the pause. The thread continues when the
/// test uses the sender or drops it.
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

/// Tests a write while a checkpoint is using the reserve. The free space is large enough to restore the reserve before the checkpoint has written the rows. The
/// checkpoint must succeed nevertheless.
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
    // The first write waits for the checkpoint, like the later one.
    let table = employees();
    let [first, later] = ["0201", "0202"].map(|row| {
        let write = sent(engine.submit(&table, transaction("Sales", vec![(row, insert(201))])));
        eventually("the write is taken", || engine.inner.requests.is_empty() || row == "0202");
        write
    });
    resume.send(()).unwrap();
    wait(checkpoint).unwrap();
    wait(first).unwrap();
    wait(later).unwrap();
}

/// Tests writes that change nothing. They must not allow other writes in the same group to use the reserve.
#[test]
fn a_write_that_changes_nothing_gives_its_group_no_right_to_the_reserve() {
    let queue = QueueName::new("work").unwrap();
    let missing = QueueName::new("missing").unwrap();
    for kind in 0..5 {
        let disk = Arc::new(SimDisk::default());
        let on: Arc<dyn Disk> = disk.clone();
        // The second gate blocks checkpoints, which might otherwise use the reserve.
        let gates = Arc::new([Mutex::new(()), Mutex::new(())]);
        let own = Arc::clone(&gates);
        let hook = Hook::new(move |step| {
            let gate = [Step::JournalWrite, Step::CheckpointWrite].iter().position(|at| *at == step);
            if let Some(gate) = gate {
                drop(own[gate].lock().unwrap_or_else(PoisonError::into_inner));
            }
            Action::Continue
        });
        let options = EngineOptions::new().disk(on).checkpoint_bytes(1 << 30).memtable_bytes(1 << 31);
        let engine = with_table(options.failpoints(hook).open("/sim").unwrap());
        wait(engine.create_queue(&queue)).unwrap();
        disk.set_room(8 << 20);
        let reserve = disk.open("/sim/RESERVE".as_ref(), false).unwrap();
        let (table, other) = (employees(), name("Other"));
        let stopped = gates[1].lock().unwrap();
        let error = (1..).find_map(|n| {
            let shut = gates[0].lock().unwrap();
            let first = sent(engine.submit(&table, transaction("Sales", vec![("first", upsert(0))])));
            let before: Pin<Box<dyn Future<Output = bool>>> = match kind {
                0 => sent(async { engine.put(&missing, PutMessage::new("x")).await.is_err() }),
                1 => sent(async { engine.receive(&queue, 1, Duration::from_secs(1)).await.is_ok() }),
                2 => sent(async {
                    engine.submit(&table, transaction("Sales", vec![("missing", delete())])).await.is_err()
                }),
                3 => sent(async { engine.delete_table(&other).await.is_err() }),
                _ => sent(async { engine.clear(&missing).await.is_err() }),
            };
            let row = format!("{n:04}");
            let insert = sent(engine.submit(&table, transaction("Sales", vec![(row.as_str(), padded(n))])));
            drop(shut);
            let _ = (wait(first), wait(before));
            let error = wait(insert).err();
            assert!(reserve.len().unwrap() >= 2 << 20, "{kind}: {n} rows, {error:?}");
            error
        });
        drop(stopped);
        assert_eq!(error.unwrap().code(), ErrorCode::DiskFull);
    }
}
