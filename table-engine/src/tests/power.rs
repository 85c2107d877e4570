//! Tests that no acknowledged write is lost if a power loss drops, tears and reorders writes that have not been synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Mutex;

use super::sim::{PAGE, SimDisk};
use super::*;
use crate::Durability;
use crate::disk::Disk;
use crate::failpoint::{Action, Hook, Step};

fn options_on(disk: &Arc<SimDisk>, durability: Durability) -> EngineOptions {
    let disk: Arc<dyn Disk> = disk.clone();
    EngineOptions::new().disk(disk).durability(durability).checkpoint_bytes(5_000)
}

fn open(disk: &Arc<SimDisk>, durability: Durability) -> Engine {
    with_table(options_on(disk, durability).open("/sim").unwrap())
}

fn numbers(engine: &Engine) -> Vec<i32> {
    all(engine).into_iter().map(|(_, _, n)| n).collect()
}

/// Returns a generator of random booleans that depends only on the seed.
fn coin(seed: u64) -> impl FnMut() -> bool {
    let mut state = seed.wrapping_mul(2_654_435_769) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state & 4 == 0
    }
}

/// The images of a disk. Each has the transactions acknowledged before it was taken, and the step that the engine was about to perform.
type Images = Arc<Mutex<Vec<(Arc<SimDisk>, BTreeSet<i32>, Step)>>>;

/// Returns images of a disk that were taken while eight writers inserted pairs of rows. Each pair was inserted in a separate transaction.
fn images(durability: Durability) -> Vec<(Arc<SimDisk>, BTreeSet<i32>, Step)> {
    let disk = Arc::new(SimDisk::default());
    let images = Images::default();
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let hook = {
        let (disk, images, acknowledged) = (disk.clone(), images.clone(), acknowledged.clone());
        Hook::new(move |step| {
            // `known` is read before the image is taken, so the image must contain all transactions in it.
            let known: BTreeSet<i32> = acknowledged.lock().unwrap().clone();
            if step != Step::Acknowledge {
                images.lock().unwrap().push((disk.image(), known, step));
            }
            Action::Continue
        })
    };
    let engine = with_table(options_on(&disk, durability).failpoints(hook).open("/sim").unwrap());
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (engine, acknowledged) = (&engine, &acknowledged);
            scope.spawn(move || {
                for n in (0..8).map(|n| n * 8 + writer) {
                    let (one, two) = (format!("{n:04}"), format!("{:04}", n + 1_000));
                    submit(engine, "Sales", vec![(&one, insert(n)), (&two, insert(n + 1_000))]).unwrap();
                    acknowledged.lock().unwrap().insert(n);
                }
            });
        }
        // While the remaining writes are in progress, a compaction merges the rows written so far.
        scope.spawn(|| wait(engine.compact()).unwrap());
    });
    wait(engine.compact()).unwrap();
    drop(engine);
    let images = std::mem::take(&mut *images.lock().unwrap());
    for wanted in [Step::CheckpointCommit, Step::MergeCommit, Step::RunDelete] {
        assert!(images.iter().any(|(.., step)| *step == wanted), "{wanted:?} was in progress");
    }
    images
}

#[test]
fn con_1_egt_9_a_power_loss_keeps_acknowledged_and_only_whole_transactions() {
    for (seed, (disk, acknowledged, step)) in images(Durability::Durable).into_iter().enumerate() {
        disk.lose_power(coin(seed as u64));
        let engine = open(&disk, Durability::Durable);
        let found = numbers(&engine);
        let (one, two): (Vec<i32>, Vec<i32>) = found.iter().partition(|n| **n < 1_000);
        assert!(one.iter().map(|n| n + 1_000).eq(two), "{step:?}: {found:?}");
        assert!(acknowledged.iter().all(|n| one.contains(n)), "{step:?}: {found:?} of {acknowledged:?}");
        // Recovered rows survive the next write and another power loss.
        write(&engine, "9999", insert(9_999)).unwrap();
        let later = disk.image();
        later.lose_power(|| false);
        assert_eq!(numbers(&open(&later, Durability::Durable)), [found, vec![9_999]].concat(), "{step:?}");
    }
}

#[test]
fn relaxed_a_power_loss_leaves_whole_transactions_and_a_usable_engine() {
    for (seed, (disk, _, step)) in images(Durability::Relaxed).into_iter().enumerate() {
        disk.lose_power(coin(seed as u64));
        let found = numbers(&open(&disk, Durability::Relaxed));
        let (one, two): (Vec<i32>, Vec<i32>) = found.iter().partition(|n| **n < 1_000);
        assert!(one.iter().map(|n| n + 1_000).eq(two), "{step:?}: {found:?}");
        // For each writer, the visible transactions are the first part of its history, without gaps.
        for writer in 0..8 {
            let of_writer: Vec<i32> = one.iter().copied().filter(|n| n % 8 == writer).collect();
            let first = (0..i32::try_from(of_writer.len()).unwrap()).map(|n| n * 8 + writer);
            assert!(of_writer.iter().copied().eq(first), "{step:?}: {found:?}");
        }
    }
}

#[test]
fn f4_writes_of_a_failed_sync_are_rewritten_before_they_are_visible() {
    let disk = Arc::new(SimDisk::default());
    // Without a checkpoint, only the journal contains the row.
    let open_on = |disk| {
        with_table(options_on(disk, Durability::Durable).checkpoint_bytes(1 << 20).open("/sim").unwrap())
    };
    let open = || open_on(&disk);
    let engine = open();
    write(&engine, "1", insert(1)).unwrap();
    disk.fail_sync(0);
    let many_pages = properties(&[("N", Value::Int32(2)), ("Bytes", Value::Binary(vec![7; 5 * PAGE]))]);
    let error = write(&engine, "2", OperationKind::Insert(many_pages)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EnginePoisoned);
    assert_eq!(numbers(&engine), [1]);
    drop(engine);
    disk.mend();
    let engine = open();
    let shown = numbers(&engine);
    assert_eq!(shown, [1, 2], "not acknowledged, but whole");
    write(&engine, "3", insert(3)).unwrap();
    let later = disk.image();
    later.lose_power(|| false);
    assert_eq!(numbers(&open_on(&later)), [1, 2, 3]);
}

/// Inserts rows, each in a separate transaction, with checkpoints and compactions between them.
fn work(engine: &Engine, acknowledged: &mut BTreeSet<i32>) -> Result<()> {
    for n in 1..22 {
        let pad = properties(&[("N", Value::Int32(n)), ("Bytes", Value::Binary(vec![7; 900]))]);
        write(engine, &format!("{n:04}"), OperationKind::Insert(pad))?;
        acknowledged.insert(n);
        if n % 10 == 9 {
            wait(engine.checkpoint())?;
        }
        if n == 15 {
            wait(engine.compact())?;
        }
    }
    Ok(())
}

/// Opens an engine on a disk. `acknowledged` contains the transactions that were acknowledged on it. Returns a description of the error or of the lost rows, if
/// any.
fn findings(disk: &Arc<SimDisk>, acknowledged: &BTreeSet<i32>) -> Option<String> {
    match options_on(disk, Durability::Durable).open("/sim/a/b") {
        Err(error) => Some(format!("refused: {error}")),
        Ok(engine) => {
            let found: BTreeSet<i32> = numbers(&with_table(engine)).into_iter().collect();
            let lost: Vec<_> = acknowledged.difference(&found).collect();
            (!lost.is_empty()).then(|| format!("acknowledged and lost: {lost:?}"))
        }
    }
}

/// Tests that acknowledged writes survive a power loss after a failed sync. The operating system considers the unsynced data clean after the failure. Before
/// the power loss, the program may reopen the folder and continue to write.
#[test]
fn con_1_one_failed_sync_loses_no_acknowledged_write_afterwards() {
    let mut wrong = BTreeMap::<String, Vec<i64>>::new();
    let mut note = |sync, when: &str, found: Option<String>| {
        wrong.entry(format!("{when}: {}", found.unwrap_or_default())).or_default().push(sync);
    };
    for sync in 0.. {
        let disk = Arc::new(SimDisk::default());
        disk.fail_sync(sync);
        let mut acknowledged = BTreeSet::new();
        let opened = options_on(&disk, Durability::Durable).open("/sim/a/b");
        if let Ok(engine) = opened
            && wait(engine.create_table(&employees())).is_ok()
        {
            let _ = work(&engine, &mut acknowledged);
        }
        let failed = disk.has_failed();
        disk.mend();
        for seed in 0..3 {
            let crashed = disk.image();
            let mut flips = coin(seed * 977 + u64::try_from(sync).unwrap());
            crashed.lose_power(|| seed > 0 && flips());
            let found = findings(&crashed, &acknowledged);
            if found.is_some() {
                note(sync, "the power goes at once", found);
            }
        }
        for more in [false, true] {
            let disk = disk.image();
            let mut acknowledged = acknowledged.clone();
            match options_on(&disk, Durability::Durable).open("/sim/a/b") {
                Err(error) => note(sync, "opened again", Some(error.to_string())),
                Ok(engine) => {
                    let engine = with_table(engine);
                    acknowledged.extend(numbers(&engine));
                    if more {
                        write(&engine, "0101", insert(101)).unwrap();
                        acknowledged.insert(101);
                    }
                    let crashed = disk.image();
                    drop(engine);
                    crashed.lose_power(|| false);
                    let found = findings(&crashed, &acknowledged);
                    if found.is_some() {
                        note(sync, &format!("opened again, more {more}, then the power goes"), found);
                    }
                }
            }
        }
        if !failed {
            assert!(sync > 40, "{sync} syncs");
            break;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_folder_can_be_below_a_parent_that_cannot_be_synced() {
    for kind in [ErrorKind::InvalidInput, ErrorKind::Unsupported, ErrorKind::PermissionDenied] {
        let open_at = |disk: &Arc<SimDisk>| options_on(disk, Durability::Durable).open("/volume/db");
        // This case occurs, for example, if the root is read-only and the folder `/volume` is on another file system.
        let disk = Arc::new(SimDisk::with_unsynced("/", kind));
        disk.create_dir(Path::new("/volume")).unwrap();
        let engine = with_table(open_at(&disk).unwrap());
        submit(&engine, "Sales", vec![("1", insert(1))]).unwrap();
        drop(engine);
        assert_eq!(numbers(&open_at(&disk).unwrap()), [1], "{kind}");
        // A folder that cannot be synced holds no engine.
        let disk = Arc::new(SimDisk::with_unsynced("/volume/db", kind));
        assert_eq!(open_at(&disk).unwrap_err().code(), ErrorCode::Io, "{kind}");
        let other = Arc::new(SimDisk::with_unsynced("/volume", ErrorKind::Other));
        assert_eq!(open_at(&other).unwrap_err().code(), ErrorCode::Io, "{kind}");
    }
}
