//! Is a copy taken beside writers whole, and one that was cut short refused?

use super::*;

#[test]
fn a_copy_holds_what_was_acknowledged_before_and_whole_transactions_of_the_rest() {
    let (folder, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = on_disk(folder.path());
    for n in 0..20 {
        submit(&engine, "Sales", vec![("a", upsert(n)), ("b", upsert(n)), (&format!("{n:03}"), upsert(n))])
            .unwrap();
    }
    write(&engine, "007", delete()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 20..60 {
                submit(&engine, "Sales", vec![("a", upsert(n)), ("b", upsert(n))]).unwrap();
            }
        });
        for n in 0..3 {
            wait(engine.backup(copies.path().join(n.to_string()))).unwrap();
        }
    });
    for n in 0..3 {
        let copy = on_disk(&copies.path().join(n.to_string()));
        assert!(copy.verify().unwrap().is_whole());
        let (a, b) = (number(&copy, "a").unwrap(), number(&copy, "b").unwrap());
        assert!(a == b && a >= 19, "{a} and {b}");
        assert_eq!(all(&copy).len(), 21);
        // It is a folder like any other.
        write(&copy, "007", insert(7)).unwrap();
        wait(copy.compact()).unwrap();
        drop(copy);
        assert_eq!(all(&on_disk(&copies.path().join(n.to_string()))).len(), 22);
    }
    let error = wait(engine.backup(copies.path().join("0"))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FolderNotOurs);
    assert_eq!(
        wait(in_memory().backup(copies.path().join("9"))).unwrap_err().code(),
        ErrorCode::InvalidInput
    );
}

#[test]
fn what_is_broken_is_not_copied_as_if_it_were_whole() {
    let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = on_disk(folder.path());
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let run = folder.path().join("0000000001.rows");
    let mut bytes = std::fs::read(&run).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&run, &bytes).unwrap();
    let engine = on_disk(folder.path());
    assert_eq!(wait(engine.backup(copy.path())).unwrap_err().code(), ErrorCode::Corrupted);
    assert_eq!(Engine::open(copy.path()).unwrap_err().code(), ErrorCode::FolderNotOurs);
}
