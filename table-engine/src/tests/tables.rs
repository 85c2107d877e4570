//! Tests that tables are created, dropped and listed as in the service. Dropping a table must also be cheap.

use super::*;
use crate::Clock;

#[test]
fn opt_2_opt_3_and_tbl_2_create_and_delete_in_any_case() {
    let engine = in_memory();
    let other = name("EMPLOYEE");
    assert_eq!(wait(engine.create_table(&other)).unwrap_err().code(), ErrorCode::TableAlreadyExists);
    write(&engine, "1", insert(1)).unwrap();
    wait(engine.delete_table(&other)).unwrap();
    let error = wait(engine.delete_table(&employees())).unwrap_err();
    assert_eq!((error.code(), error.table()), (ErrorCode::ResourceNotFound, Some("Employee")));
    assert_eq!(write(&engine, "1", insert(1)).unwrap_err().code(), ErrorCode::TableNotFound);
}

#[test]
fn a_recreated_table_is_empty_for_old_rows_in_any_layer() {
    everywhere(|engine, settle| {
        write(engine, "1", insert(1)).unwrap();
        settle();
        write(engine, "2", insert(2)).unwrap();
        wait(engine.delete_table(&employees())).unwrap();
        wait(engine.create_table(&employees())).unwrap();
        assert_eq!(all(engine), []);
        write(engine, "1", insert(3)).unwrap();
        settle();
        settle();
        assert_eq!(all(engine), [("Sales".into(), "1".into(), 3)]);
    });
}

#[test]
fn eng_9_the_name_of_a_deleted_table_waits_if_requested() {
    let now = Arc::new(std::sync::atomic::AtomicU64::new(1_000));
    let clock = {
        let now = now.clone();
        Clock::new(move || now.load(std::sync::atomic::Ordering::Relaxed))
    };
    let options = EngineOptions::new().table_delete_delay(Duration::from_secs(40)).clock(clock);
    let engine = with_table(options.in_memory());
    wait(engine.delete_table(&employees())).unwrap();
    for error in [
        wait(engine.create_table(&employees())).unwrap_err(),
        wait(engine.delete_table(&employees())).unwrap_err(),
        write(&engine, "1", insert(1)).unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::TableBeingDeleted);
    }
    assert_eq!(wait(engine.list_tables("", None, 10)).unwrap().names, []);
    now.store(1_000_000_000, std::sync::atomic::Ordering::Relaxed);
    wait(engine.create_table(&employees())).unwrap();
    write(&engine, "1", insert(1)).unwrap();
}

#[test]
fn opt_5_and_page_12_tables_are_listed_in_order_even_after_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let engine = on_disk(folder.path());
    for text in ["Zebra", "alpha", "Beta"] {
        wait(engine.create_table(&name(text))).unwrap();
    }
    wait(engine.checkpoint()).unwrap();
    wait(engine.create_table(&name("Delta"))).unwrap();
    wait(engine.delete_table(&name("zebra"))).unwrap();
    let texts = |engine: &Engine| {
        let page = wait(engine.list_tables("", None, 1_000)).unwrap();
        page.names.iter().map(|name| name.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&engine), ["alpha", "Beta", "Delta", "Employee"]);
    drop(engine);
    assert_eq!(texts(&on_disk(folder.path())), ["alpha", "Beta", "Delta", "Employee"]);
    let error = wait(on_disk(folder.path()).list_tables("", None, 1_001)).unwrap_err();
    assert_eq!(error.rule(), Some("TOP-2"));
}

#[test]
fn memory_of_a_dropped_table_is_released() {
    let engine = in_memory();
    for n in 0..50 {
        let keys: Vec<String> = (0..100).map(|m| format!("{n}-{m}")).collect();
        submit(&engine, "Sales", keys.iter().map(|key| (key.as_str(), insert(1))).collect()).unwrap();
    }
    assert_eq!(engine.inner.state().unwrap().memtable.len(), 5_000);
    wait(engine.delete_table(&employees())).unwrap();
    eventually("its rows leave memory", || engine.inner.state().unwrap().memtable.len() == 0);
}
