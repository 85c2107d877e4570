//! Tests crashes at every disk call. Afterwards, every acknowledged write still exists, and no write is partly visible.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::gate::{Gate, GatedDisk};
use super::*;
use crate::failpoint::{Action, Hook, Step};

/// Copies of the folder, each with the step at which it was made and the number of transactions acknowledged before it.
type Images = Arc<Mutex<Vec<(Step, tempfile::TempDir, i32)>>>;

/// Commits a transaction that writes `n` to the keys `a`, `b` and `n`, and deletes the key `n - 1`. It writes several rows so that the tests can detect a
/// partly visible transaction.
fn churn(engine: &Engine, n: i32) -> Result<Committed> {
    let old = format!("{:03}", n - 1);
    let mut operations = vec![("a", upsert(n)), ("b", upsert(n))];
    if n > 1 {
        operations.push((&old, delete()));
    }
    let new = format!("{n:03}");
    operations.push((&new, upsert(n)));
    submit(engine, "Sales", operations)
}

/// Returns the number of the last visible transaction. Panics if the rows are not the result of a complete transaction.
fn shown(engine: &Engine) -> i32 {
    let found = all(engine);
    let Some((_, _, n)) = found.first().cloned() else { return 0 };
    let row = |key: &str| ("Sales".to_owned(), key.to_owned(), n);
    assert_eq!(found, [row(&format!("{n:03}")), row("a"), row("b")]);
    n
}

#[test]
fn con_1_egt_9_a_crash_keeps_acknowledged_writes_and_all_or_none_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let images = Images::default();
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let active = Arc::new(AtomicUsize::new(0));
    let gate = Gate::default();
    let hook = {
        let gate = gate.clone();
        let (images, acknowledged, active) = (images.clone(), acknowledged.clone(), active.clone());
        let path: PathBuf = folder.path().to_owned();
        Hook::new(move |step| {
            if active.load(Ordering::SeqCst) == 1 {
                let _shut = gate.write().unwrap();
                let before = i32::try_from(acknowledged.load(Ordering::SeqCst)).unwrap();
                images.lock().unwrap().push((step, copy_folder(&path), before));
            }
            Action::Continue
        })
    };
    let engine =
        with_table(options().failpoints(hook).disk(Arc::new(GatedDisk(gate))).open(folder.path()).unwrap());
    wait(engine.create_table(&name("Other"))).unwrap();
    let other = transaction("P", vec![("1", insert(1)), ("2", insert(2))]);
    wait(engine.submit(&name("Other"), other)).unwrap();
    wait(engine.checkpoint()).unwrap();
    active.store(1, Ordering::SeqCst);
    let mut n = 0;
    let mut more = |count: i32| {
        for _ in 0..count {
            n += 1;
            churn(&engine, n).unwrap();
            acknowledged.store(usize::try_from(n).unwrap(), Ordering::SeqCst);
        }
    };
    more(3);
    wait(engine.checkpoint()).unwrap();
    more(2);
    wait(engine.delete_table(&name("Other"))).unwrap();
    more(2);
    wait(engine.compact()).unwrap();
    eventually("runs that were merged are removed", || {
        images.lock().unwrap().iter().any(|(step, ..)| *step == Step::RunDelete)
    });
    more(2);
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let images = std::mem::take(&mut *images.lock().unwrap());
    for step in Step::ALL {
        assert!(images.iter().any(|(seen, ..)| *seen == step), "{step:?} was not reached");
    }
    for (step, image, before) in images {
        let engine = on_disk(image.path());
        let n = shown(&engine);
        assert!(n == before || n == before + 1, "{step:?}: {n} after {before}");
        churn(&engine, n + 1).unwrap();
        wait(engine.checkpoint()).unwrap();
        drop(engine);
        assert_eq!(shown(&on_disk(image.path())), n + 1, "{step:?}, reopened");
    }
}

#[test]
fn f4_a_failure_at_any_step_poisons_only_writes_and_reopening_recovers() {
    for step in Step::ALL {
        let folder = tempfile::tempdir().unwrap();
        // The state of the hook: 0 is idle, 1 is armed to fail, 2 has failed.
        let armed = Arc::new(AtomicUsize::new(0));
        let hook = {
            let armed = armed.clone();
            Hook::new(move |at| {
                if at != step || armed.load(Ordering::SeqCst) == 0 {
                    return Action::Continue;
                }
                armed.store(2, Ordering::SeqCst);
                Action::Fail
            })
        };
        let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
        wait(engine.create_table(&name("Other"))).unwrap();
        wait(engine.submit(&name("Other"), transaction("P", vec![("1", insert(1))]))).unwrap();
        churn(&engine, 1).unwrap();
        wait(engine.compact()).unwrap();
        armed.store(1, Ordering::SeqCst);
        let mut known = 1;
        let mut failed = false;
        let mut note = |outcome: Result<()>| match outcome {
            Ok(()) => assert!(!failed, "{step:?}: a write after the failure"),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::EnginePoisoned, "{step:?}");
                failed = true;
            }
        };
        for n in 2..4 {
            let outcome = churn(&engine, n).map(drop);
            if outcome.is_ok() {
                known = n;
            }
            note(outcome);
        }
        note(wait(engine.delete_table(&name("Other"))));
        let compacted = wait(engine.compact());
        if step == Step::MergeWrite {
            // Only a merge step failed, so the engine continues.
            assert_eq!(compacted.unwrap_err().code(), ErrorCode::Io);
        } else {
            note(compacted);
        }
        note(wait(engine.checkpoint()));
        // If a file could not be deleted, the engine continues.
        let harmless = [Step::JournalDelete, Step::MergeWrite, Step::RunDelete].contains(&step);
        assert_eq!(failed, !harmless, "{step:?}");
        // Published writes remain readable.
        assert!(shown(&engine) >= known);
        assert_eq!(wait(engine.close()).is_err(), failed);
        let engine = on_disk(folder.path());
        let n = shown(&engine);
        assert!(n >= known, "{step:?}: {n} after {known}");
        churn(&engine, n + 1).unwrap();
        assert_eq!(shown(&engine), n + 1);
    }
}

#[test]
fn a_checkpoint_thread_panic_is_reported_and_no_caller_waits_for_it() {
    for step in [
        Step::CheckpointWrite,
        Step::CheckpointCommit,
        Step::JournalDelete,
        Step::MergeWrite,
        Step::MergeCommit,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let armed = Arc::new(AtomicUsize::new(0));
        let hook = {
            let armed = armed.clone();
            Hook::new(move |at| {
                assert!(at != step || armed.load(Ordering::SeqCst) == 0, "a panic on request");
                Action::Continue
            })
        };
        let engine = with_table(options().failpoints(hook).open(folder.path()).unwrap());
        churn(&engine, 1).unwrap();
        wait(engine.checkpoint()).unwrap();
        churn(&engine, 2).unwrap();
        armed.store(1, Ordering::SeqCst);
        assert_eq!(wait(engine.compact()).unwrap_err().code(), ErrorCode::EnginePoisoned, "{step:?}");
        assert_eq!(wait(engine.checkpoint()).unwrap_err().code(), ErrorCode::EnginePoisoned, "{step:?}");
        assert_eq!(churn(&engine, 3).unwrap_err().code(), ErrorCode::EnginePoisoned, "{step:?}");
        assert_eq!(shown(&engine), 2, "published rows stay readable");
        assert_eq!(wait(engine.close()).unwrap_err().code(), ErrorCode::EnginePoisoned, "{step:?}");
        assert_eq!(shown(&on_disk(folder.path())), 2, "{step:?}");
    }
}
