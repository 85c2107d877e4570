//! Tests that corruption in a file of the base affects only messages whose rows are in the corrupted part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::damaged::rows;
use super::{
    AtomicU64, Duration, Engine, EngineOptions, PutMessage, QueueStore, block_on, clocked, pass, work,
};
use crate::base::tests::{Part, parts};
use crate::decision::Ground;
use crate::key::Key;
use crate::queue::rows::{Shown, message, message_key};

const HOUR: Duration = Duration::from_secs(3_600);

/// Returns the texts of all messages, each with the keys of its two rows.
fn messages(engine: &Engine) -> BTreeMap<String, [Key; 2]> {
    let read = |ground: &mut Ground<'_>| {
        let mut found = BTreeMap::new();
        for (row_key, key, row) in rows(ground) {
            if row_key.starts_with('v') {
                let shown = Shown::read(row.view())?;
                let text = message(ground.state, ground.table, &shown)?.text;
                found.insert(text, [key, message_key(ground.table, &shown.id).unwrap()]);
            }
        }
        Ok(found)
    };
    block_on(engine.decide(&work(), "read", read)).unwrap()
}

fn put(engine: &Engine, texts: std::ops::Range<usize>) {
    for n in texts {
        block_on(engine.put(&work(), PutMessage::new(n.to_string()))).unwrap();
    }
}

/// Receives and deletes at least `least` visible messages. If there are fewer, all of them are received. Returns their texts.
fn drain(engine: &Engine, least: usize) -> Vec<String> {
    let mut received = Vec::new();
    while received.len() < least {
        let leases = block_on(engine.receive(&work(), 32, HOUR)).unwrap();
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            block_on(engine.delete(&work(), &lease.message.id, &lease.receipt)).unwrap();
            received.push(lease.message.text);
        }
    }
    received
}

/// Copies the files of a folder, and flips a bit at the start of a part.
fn copy(from: &Path, part: &Part) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        let mut bytes = std::fs::read(file.path()).unwrap();
        if file.file_name() == part.file.as_str() {
            bytes[usize::try_from(part.offset).unwrap()] ^= 1;
        }
        std::fs::write(to.path().join(file.file_name()), bytes).unwrap();
    }
    to
}

/// Corrupts each part of the base in turn. If both rows of a message are outside the part, the message must be received once. No deleted message may be
/// received. The remaining messages must be received after the part has been repaired and the folder has been reopened.
fn check(options: &EngineOptions, time: &AtomicU64, folder: &Path) {
    let (all, parts) = loop {
        let engine = options.clone().open(folder).unwrap();
        let all = messages(&engine);
        let state = engine.inner.state().unwrap();
        let parts = parts(state.base.as_ref().unwrap());
        drop(state);
        block_on(engine.close()).unwrap();
        // A merge may have replaced the files before the engine was closed.
        if parts.iter().all(|part| folder.join(&part.file).exists()) {
            break (all, parts);
        }
    };
    assert!(parts.len() > 3, "{}", parts.len());
    for part in parts {
        let damaged = copy(folder, &part);
        let engine = options.clone().open(damaged.path()).unwrap();
        let is_lost = |keys: &[Key; 2]| keys.iter().any(|key| part.keys.contains(&key.to_vec()));
        let intact: BTreeSet<&String> =
            all.iter().filter(|(_, keys)| !is_lost(keys)).map(|(text, _)| text).collect();
        let count = block_on(engine.approximate_count(&work())).unwrap();
        assert!((intact.len() as u64..=all.len() as u64).contains(&count), "{count}, {part:?}");
        let peeked = block_on(engine.peek(&work(), 32)).unwrap();
        assert!(peeked.len() >= intact.len().min(32), "{part:?}");
        assert!(peeked.iter().all(|message| all.contains_key(&message.text)), "{part:?}");
        let received = drain(&engine, usize::MAX);
        let unique: BTreeSet<&String> = received.iter().collect();
        assert_eq!(unique.len(), received.len(), "{part:?}");
        assert!(unique.is_superset(&intact), "{:?} of {part:?}", intact.difference(&unique));
        assert!(unique.iter().all(|text| all.contains_key(*text)), "{part:?}");
        // New messages are delivered as before.
        put(&engine, 5_000..5_003);
        assert_eq!(drain(&engine, usize::MAX), ["5000", "5001", "5002"], "{part:?}");
        block_on(engine.close()).unwrap();
        std::fs::copy(folder.join(&part.file), damaged.path().join(&part.file)).unwrap();
        let engine = options.clone().open(damaged.path()).unwrap();
        // Messages with corrupted texts were hidden.
        pass(time, 7_200);
        let others: Vec<String> = all.keys().filter(|text| !unique.contains(text)).cloned().collect();
        let mut repaired = drain(&engine, usize::MAX);
        repaired.sort();
        assert_eq!(repaired, others, "{part:?}");
    }
}

#[test]
fn a_damaged_block_stops_no_message_with_rows_outside_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (options, time) = clocked();
    let engine = options.clone().open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    put(&engine, 0..300);
    block_on(engine.checkpoint()).unwrap();
    // These messages become visible again after the messages put next.
    block_on(engine.receive(&work(), 32, Duration::from_secs(30))).unwrap();
    put(&engine, 300..330);
    block_on(engine.checkpoint()).unwrap();
    put(&engine, 330..350);
    block_on(engine.close()).unwrap();
    pass(&time, 60);
    check(&options, &time, folder.path());
}

// The block of the second run has an entry before and an entry after most of the messages, which are in the first run.
#[test]
fn a_damaged_block_hides_no_message_of_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let (options, _time) = clocked();
    let engine = options.clone().open(folder.path()).unwrap();
    block_on(engine.create_queue(&work())).unwrap();
    put(&engine, 0..600);
    block_on(engine.checkpoint()).unwrap();
    assert_eq!(drain(&engine, 32).len(), 32);
    put(&engine, 600..601);
    block_on(engine.checkpoint()).unwrap();
    let state = engine.inner.state().unwrap();
    let parts = parts(state.base.as_ref().unwrap());
    drop(state);
    block_on(engine.close()).unwrap();
    let newest = parts.iter().map(|part| part.file.clone()).max().unwrap();
    assert_ne!(newest, parts[0].file, "the runs have been merged");
    let block = parts.iter().find(|part| part.file == newest).unwrap();
    let damaged = copy(folder.path(), block);
    let engine = options.open(damaged.path()).unwrap();
    // The filter of the corrupted run has false positives for about one key in a hundred.
    assert!(block_on(engine.approximate_count(&work())).unwrap() > 540);
    assert_eq!(block_on(engine.peek(&work(), 32)).unwrap().len(), 32);
    assert!(drain(&engine, usize::MAX).len() > 540);
}

#[test]
fn a_damaged_block_whose_messages_were_deleted_stops_no_message() {
    for is_flushed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (options, time) = clocked();
        let engine = options.clone().open(folder.path()).unwrap();
        block_on(engine.create_queue(&work())).unwrap();
        put(&engine, 0..600);
        block_on(engine.checkpoint()).unwrap();
        // All messages whose visibility rows are in the first block are deleted.
        drain(&engine, 300);
        put(&engine, 600..640);
        if is_flushed {
            block_on(engine.checkpoint()).unwrap();
        }
        block_on(engine.close()).unwrap();
        check(&options, &time, folder.path());
    }
}
