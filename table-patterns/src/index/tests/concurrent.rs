//! Tests that many concurrent writers neither lose nor duplicate index entries.

use std::sync::{Arc, Barrier};
use std::thread;

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::retry::Retry;
use table_core::{ErrorCode, Result};

use super::kit::{Staff, ada, expected, stored};
use crate::EntityStore;
use crate::entities::Entities;

fn together(
    writers: usize,
    work: impl Fn(usize, &Entities<Staff, Engine>) -> Result<()> + Send + Sync,
) -> (Engine, Vec<Result<()>>) {
    let engine = Engine::in_memory();
    let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
    let barrier = Arc::new(Barrier::new(writers));
    let done = thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                let (table, barrier, work) = (table.clone(), Arc::clone(&barrier), &work);
                scope.spawn(move || {
                    barrier.wait();
                    work(writer, &table)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (engine, done)
}

fn rows(engine: &Engine) -> super::kit::Rows {
    block_on(stored(engine, &["Company"])).unwrap()
}

#[test]
fn pat_ix_1_writers_of_one_list_lose_no_member() {
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Names", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByLastName, at_most = 1000, row_key("lastname_", last_name))]
    struct Named {
        department: String,
        id: u32,
        last_name: String,
    }
    const EACH: u32 = 3;
    // An attempt fails only if another writer has written. The permitted attempts outnumber the writes, so each write succeeds in the end.
    const { assert!(15 * (EACH as usize) < Retry::ATTEMPTS) };
    let engine = Engine::in_memory();
    let table = block_on(engine.entities::<Named>().create_if_missing()).unwrap();
    let named = |id| Named { department: "Sales".to_owned(), id, last_name: "Jones".to_owned() };
    thread::scope(|scope| {
        for writer in 0..16 {
            let table = table.clone();
            scope.spawn(move || {
                for id in writer * EACH..(writer + 1) * EACH {
                    block_on(table.insert(&named(id))).unwrap();
                }
            });
        }
    });
    let all: Vec<_> = (0..16 * EACH).map(named).collect();
    assert_eq!(block_on(stored(&engine, &["Names"])).unwrap(), expected(&all));
    let found = block_on(table.get_by_index(Named::by_last_name("Sales", "Jones"))).unwrap();
    assert_eq!(found.len(), all.len());
}

#[test]
fn pat_intra_5_only_one_of_many_writers_gets_a_unique_value() {
    let writer = |writer: usize| Staff {
        id: u32::try_from(writer).unwrap(),
        last_name: format!("Name{writer}"),
        ..ada()
    };
    let (engine, done) = together(8, |at, table| block_on(table.insert(&writer(at))).map(drop));
    let winners: Vec<_> = (0..8).filter(|at| done[*at].is_ok()).collect();
    assert_eq!(winners.len(), 1);
    assert!(
        done.iter()
            .filter_map(|done| done.as_ref().err())
            .all(|error| error.code() == ErrorCode::UniqueViolation)
    );
    assert_eq!(rows(&engine), expected([&writer(winners[0])]));
}

#[test]
fn con_3_concurrent_writes_of_one_entity_leave_only_the_defined_rows() {
    let names = ["Jones", "Cao", "Lovelace"];
    let (engine, _) = together(6, |at, table| {
        for round in 0..12_usize {
            let staff = Staff {
                last_name: names[(at + round) % 3].to_owned(),
                email: Some(format!("{}", (at * 7 + round) % 4)),
                age: u8::try_from(16 + (at + round) % 5).unwrap(),
                ..ada()
            };
            let done = match (at + round) % 4 {
                0 => block_on(table.insert_or_replace(&staff)).map(drop),
                1 => block_on(table.update(Staff::key("Sales", 1), |now| *now = staff.clone())).map(drop),
                2 => block_on(table.delete(Staff::key("Sales", 1), IfMatch::Any)),
                _ => block_on(table.insert(&staff)).map(drop),
            };
            if let Err(error) = done {
                let is_expected =
                    matches!(error.code(), ErrorCode::ResourceNotFound | ErrorCode::EntityAlreadyExists);
                assert!(is_expected, "{error}");
            }
        }
        Ok(())
    });
    let table = block_on(engine.entities::<Staff>().create_if_missing()).unwrap();
    let left = block_on(table.query(Staff::partition("Sales")).collect()).unwrap();
    assert_eq!(rows(&engine), expected(&left));
}
