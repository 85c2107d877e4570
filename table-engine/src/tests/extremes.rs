//! Tests of engines with extreme options, and of engines in processes with unusual resource limits.

use table_store::limits::TransactionMeasure;

use super::*;
use crate::disk::fault::is_full;

#[test]
fn checkpoints_of_any_size_lose_nothing() {
    let sizes = [0, 1, 1 << 20, usize::MAX / 4, usize::MAX];
    for checkpoint in sizes {
        for recent in sizes {
            let folder = tempfile::tempdir().unwrap();
            let options = || EngineOptions::new().checkpoint_bytes(checkpoint).memtable_bytes(recent);
            let engine = with_table(options().table_delete_delay(Duration::MAX).open(folder.path()).unwrap());
            for n in 0..20 {
                write(&engine, &n.to_string(), upsert(n)).unwrap();
            }
            wait(engine.compact()).unwrap();
            write(&engine, "0", delete()).unwrap();
            wait(engine.close()).unwrap();
            // The folder is reopened with the two sizes exchanged.
            let other = EngineOptions::new().checkpoint_bytes(recent).memtable_bytes(checkpoint);
            let engine = other.open(folder.path()).unwrap();
            write(&engine, "1", delete()).unwrap();
            assert_eq!(all(&engine).len(), 18, "checkpoints at {checkpoint}, at most {recent}");
        }
    }
}

#[test]
fn a_forked_process_gets_an_error_instead_of_waiting_for_threads_that_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    let mine = engine.inner.process;
    Arc::get_mut(&mut engine.inner).unwrap().process = mine.wrapping_add(1);
    let error = write(&engine, "2", insert(2)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EngineClosed);
    assert!(error.to_string().contains("forked"), "{error}");
    assert_eq!(wait(engine.checkpoint()).unwrap_err().code(), ErrorCode::EngineClosed);
    assert_eq!(number(&engine, "1"), Some(1), "reads need no thread");
    Arc::get_mut(&mut engine.inner).unwrap().process = mine;
    write(&engine, "2", insert(2)).unwrap();
}

#[test]
fn a_process_that_was_forked_during_a_write_in_memory_does_not_wait_for_it() {
    let mut engine = with_table(EngineOptions::new().in_memory());
    write(&engine, "1", insert(1)).unwrap();
    let mine = engine.inner.process;
    Arc::get_mut(&mut engine.inner).unwrap().process = mine.wrapping_add(1);
    let direct = engine.inner.direct.clone().unwrap();
    let key = EntityKey::new("Sales", "1").unwrap();
    direct.with(|_| {
        let read = wait(engine.get(&employees(), &key, &Select::All));
        assert_eq!(read.unwrap_err().code(), ErrorCode::EngineClosed);
        assert_eq!(write(&engine, "2", insert(2)).unwrap_err().code(), ErrorCode::EngineClosed);
    });
    assert_eq!(number(&engine, "1"), Some(1), "the state is free in the copy of the memory");
    drop(direct);
    Arc::get_mut(&mut engine.inner).unwrap().process = mine;
}

#[test]
fn a_file_that_may_not_grow_is_a_full_disk() {
    for kind in [std::io::ErrorKind::FileTooLarge, std::io::ErrorKind::QuotaExceeded] {
        assert!(is_full(&kind.into()), "{kind}");
    }
}

#[test]
fn egt_3_a_transaction_that_exceeds_a_frame_is_refused_and_harms_nothing() {
    const ROWS: usize = 64;
    let folder = tempfile::tempdir().unwrap();
    let engine = with_table(EngineOptions::new().limits(Limits::UNLIMITED).open(folder.path()).unwrap());
    write(&engine, "1", insert(1)).unwrap();
    // All rows share these bytes. Together, the rows have more than 4 GiB.
    let mut large = RowWriter::new();
    large.property("Bytes", ValueRef::Binary(&vec![7; (1 << 32) / ROWS]));
    let (large, mut limits) = (large.finish(), Limits::UNLIMITED);
    limits.measure = TransactionMeasure::Unmeasured;
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
    for n in 0..ROWS {
        let (row_key, kind) =
            (RowKey::new(format!("{n:02}")).unwrap(), OperationKind::InsertOrReplace(large.clone()));
        transaction.push(Operation { row_key, kind }).unwrap();
    }
    let error = wait(engine.submit(&employees(), transaction)).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::RequestBodyTooLarge, Some("EGT-3")));
    write(&engine, "2", insert(2)).unwrap();
    drop(engine);
    assert_eq!(all(&Engine::open(folder.path()).unwrap()).len(), 2);
}
