//! Tests that an older program checks the stored schema before each attempt of a write. A newer program may start a backfill between two attempts.

use pollster::block_on;
use table_core::table::LEASE;
use table_core::{ErrorCode, Result};
use table_patterns::work::Runtime;
use table_patterns::{Entities, EntityStore};
use tests::faults::{Control, Controlled};
use tests::time::Time;

use super::kit::Process;
use super::settling::shared;

/// Entities with an index list. Every write reads the list first.
mod listed {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByEmail, at_most = 100, row_key("email_", email))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub email: String,
    }

    pub(super) fn employee(id: u32) -> Employee {
        Employee { department: "Sales".into(), id, email: "ada".into() }
    }
}

/// A newer release with an index.
mod twice {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByEmail, at_most = 100, row_key("email_", email))]
    #[index(ByMail, row_key("mail_", email, "_", id))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[without('_')]
        pub email: String,
    }
}

type Old = Entities<listed::Employee, Controlled<table_core::testing::LimitedStore<table_core::Engine>>>;

async fn write(old: Old, verb: usize) -> Result<()> {
    let person = listed::employee(2);
    match verb {
        0 => old.insert(&person).await.map(drop),
        1 => {
            let mut unit = old.unit(listed::Employee::partition("Sales"))?;
            unit.insert(&person)?;
            unit.commit().await.map(drop)
        }
        2 => {
            let added = old.transaction(listed::Employee::partition("Sales"), async |unit| {
                unit.insert(&listed::employee(2)).map(drop)
            });
            added.await.map(drop)
        }
        _ => old.bulk().insert_all([person]).await.map(drop).map_err(|error| error.source),
    }
}

#[test]
fn every_attempt_of_a_write_is_refused_once_a_newer_schema_forbids_it() {
    for verb in 0..4 {
        let time = Time::default();
        let engine = time.engine();
        let (after, newer) = (time.clone(), engine.clone());
        // A newer program completes an index while the older program waits for its next attempt.
        let runtime = Runtime::new().clock(time.clock()).sleep_by(move |_| {
            block_on(async {
                let new = newer.entities::<twice::Employee>().with_runtime(after.runtime());
                let new = new.create_if_missing().await.unwrap();
                new.backfill::<twice::EmployeeByMail>().assume_no_older_programs().run().await.unwrap();
            });
            after.pass(LEASE * 2);
            Box::pin(async {})
        });
        let control = Control::default();
        let store = control.over(shared(engine.clone()));
        let old = store.entities::<listed::Employee>().with_runtime(runtime);
        let old = block_on(old.create_if_missing()).unwrap();
        block_on(old.insert(&listed::employee(1))).unwrap();
        let control = control.stepped();
        let mut written: Process<Result<()>> = Box::pin(write(old, verb));
        // In each of the first two attempts, another writer changes the list between the read and the write.
        for id in [3, 4] {
            assert!(control.step(&mut written).is_none(), "verb {verb}");
            let other = engine.entities::<listed::Employee>().with_runtime(time.runtime());
            block_on(async { other.create_if_missing().await.unwrap().insert(&listed::employee(id)).await })
                .unwrap();
        }
        let outcome = loop {
            if let Some(outcome) = control.step(&mut written) {
                break outcome;
            }
        };
        assert_eq!(outcome.unwrap_err().code(), ErrorCode::SchemaMismatch, "verb {verb}");
    }
}

/// Runs a write that conflicts with another one. During call number `calls` of the write, a newer program completes an index. Returns the outcome of the write,
/// and the number of its calls after the index was completed. Returns `None` if the write makes fewer calls.
fn overtaken(verb: usize, calls: usize) -> Option<(Result<()>, usize)> {
    let time = Time::default();
    let engine = time.engine();
    let control = Control::default();
    let old = control.over(shared(engine.clone())).entities::<listed::Employee>();
    let old = block_on(old.with_runtime(time.runtime()).create_if_missing()).unwrap();
    block_on(old.insert(&listed::employee(1))).unwrap();
    let control = control.stepped();
    let mut written: Process<Result<()>> = Box::pin(write(old, verb));
    assert!(control.step(&mut written).is_none(), "verb {verb}");
    let other = engine.entities::<listed::Employee>().with_runtime(time.runtime());
    block_on(async { other.create_if_missing().await.unwrap().insert(&listed::employee(3)).await }).unwrap();
    if (1..calls).any(|_| control.step(&mut written).is_some()) {
        return None;
    }
    block_on(async {
        let new = engine.entities::<twice::Employee>().with_runtime(time.runtime());
        let new = new.create_if_missing().await.unwrap();
        new.backfill::<twice::EmployeeByMail>().assume_no_older_programs().run().await.unwrap();
    });
    time.pass(LEASE * 2);
    let before = control.calls();
    let outcome = loop {
        if let Some(outcome) = control.step(&mut written) {
            break outcome;
        }
    };
    Some((outcome, control.calls() - before))
}

#[test]
fn a_write_sends_no_further_request_than_the_one_under_way_once_a_newer_schema_forbids_it() {
    for verb in 0..4 {
        let mut refused = 0;
        for calls in 1.. {
            let Some((outcome, sent)) = overtaken(verb, calls) else { break };
            match outcome {
                // The index was completed during the last request of the write.
                Ok(()) => assert_eq!(sent, 1, "verb {verb}, call {calls}, {refused} refused"),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::SchemaMismatch, "verb {verb}, call {calls}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 0, "verb {verb}");
    }
}
