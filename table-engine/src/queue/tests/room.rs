//! Tests that queue operations succeed on a full disk if they add no data.

use std::sync::mpsc;

use table_store::queue::Lease;
use table_store::{ErrorCode, Result};

use super::{Arc, Duration, Engine, EngineOptions, PutMessage, QueueStore, block_on, texts, work};
use crate::disk::Disk;
use crate::failpoint::{Action, Hook, Step};
use crate::tests::sim::SimDisk;

const HOUR: Duration = Duration::from_secs(3_600);

fn put(engine: &Engine, text: String) -> Result<Lease> {
    block_on(engine.put(&work(), PutMessage::new(text)))
}

/// Puts messages until the disk is full.
fn fill(engine: &Engine, bytes: usize) {
    let refused = (0..).find_map(|_| put(engine, "x".repeat(bytes)).err()).unwrap();
    assert_eq!(refused.code(), ErrorCode::DiskFull, "{refused}");
}

#[test]
fn a_message_is_received_updated_and_deleted_on_a_full_disk() {
    let disk = Arc::new(SimDisk::default());
    let on: Arc<dyn Disk> = disk.clone();
    let options = EngineOptions::new().disk(on).checkpoint_bytes(1 << 20).memtable_bytes(2 << 20);
    let engine = options.clone().open("/sim").unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    put(&engine, "first".to_owned()).unwrap();
    disk.set_room(12 << 20);
    for bytes in [60_000, 1_000, 10] {
        fill(&engine, bytes);
    }
    // This receive uses the reserve.
    let received = block_on(engine.receive(&work(), 1, HOUR)).unwrap();
    assert_eq!(texts(&received), ["first"]);
    let update = |lease: &Lease, text: Option<&str>| {
        block_on(engine.update(&work(), lease, HOUR, text.map(str::to_owned)))
    };
    let mut lease = received[0].clone();
    for text in [None, Some("FIRST"), None, Some("a"), Some("")] {
        fill(&engine, 10);
        lease = update(&lease, text).unwrap();
    }
    // An automatic checkpoint may free space between two calls.
    let is_refused = (1..100).any(|bytes| {
        fill(&engine, 1);
        match update(&lease, Some(&"x".repeat(bytes))) {
            Ok(updated) => lease = updated,
            Err(error) => assert_eq!(error.code(), ErrorCode::DiskFull, "{error}"),
        }
        lease.message.text.len() < bytes
    });
    assert!(is_refused, "a longer text adds data");
    block_on(engine.delete(&work(), &lease.message.id, &lease.receipt)).unwrap();
    block_on(engine.clear(&work())).unwrap();
    disk.mend();
    // The first call may fail, because it joins an attempt that began before space became available.
    block_on(engine.checkpoint()).or_else(|_| block_on(engine.checkpoint())).unwrap();
    put(&engine, "longer than before".to_owned()).unwrap();
}

/// Clears a queue while a checkpoint is waiting for disk space. This checkpoint contains the queue's creation. A copy of the folder is opened before the next
/// checkpoint.
#[test]
fn a_queue_that_is_cleared_on_a_full_disk_keeps_its_creation_time() {
    let disk = Arc::new(SimDisk::without_reserve());
    let on: Arc<dyn Disk> = disk.clone();
    let options = EngineOptions::new();
    // The hook copies the disk when a checkpoint has been recorded.
    let (sender, images) = mpsc::channel();
    let hook = Hook::new({
        let disk = disk.clone();
        move |step| {
            if step == Step::CheckpointPublish {
                let _ = sender.send(disk.image());
            }
            Action::Continue
        }
    });
    let engine = options.clone().disk(on).failpoints(hook).open("/sim").unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    let created = engine.queue_incarnation(&work()).unwrap();
    put(&engine, "x".repeat(60_000)).unwrap();
    // The free space is increased until the next journal file can be created. It is still too small for writing the rows to the base.
    let waits = (0..100).any(|times| {
        disk.set_room(2_000 * times);
        assert_eq!(block_on(engine.checkpoint()).unwrap_err().code(), ErrorCode::DiskFull);
        engine.inner.state().unwrap().frozen.is_some()
    });
    assert!(waits, "no checkpoint waits for space");
    block_on(engine.clear(&work())).unwrap();
    disk.mend();
    block_on(engine.checkpoint()).or_else(|_| block_on(engine.checkpoint())).unwrap();
    let crashed = images.recv().unwrap();
    assert_eq!(engine.queue_incarnation(&work()).unwrap(), created);
    crashed.lose_power(|| true);
    let on: Arc<dyn Disk> = crashed;
    let reopened = options.disk(on).open("/sim").unwrap();
    assert_eq!(reopened.queue_incarnation(&work()).unwrap(), created);
    assert_eq!(block_on(reopened.approximate_count(&work())).unwrap(), 0);
}
