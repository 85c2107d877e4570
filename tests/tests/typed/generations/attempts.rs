//! Writes of an older program that need several attempts, between which a newer program begins a backfill: every attempt is checked.

use pollster::block_on;
use table_core::table::LEASE;
use table_core::{ErrorCode, Result, TableEntity, TableStoreExt as _};
use table_patterns::{Entities, EntityStore};
use tests::faults::{Control, Controlled};
use tests::time::Time;

use super::indexed;
use super::kit::Process;
use super::settling::shared;

/// A newer release with a second index.
mod twice {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index(ByEmail, unique, row_key("email_", email))]
    #[index(ByMail, row_key("mail_", email, "_", id))]
    pub(super) struct Employee {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        #[without('_')]
        pub email: String,
    }
}

type Old = Entities<indexed::Employee, Controlled<table_core::testing::LimitedStore<table_core::Engine>>>;

async fn write(old: Old, verb: usize) -> Result<()> {
    let person = indexed::employee(2, "ada");
    match verb {
        0 => old.insert(&person).await.map(drop),
        1 => {
            let mut unit = old.unit(indexed::Employee::partition("Sales"))?;
            unit.insert(&person)?;
            unit.commit().await.map(drop)
        }
        2 => {
            let added = old.transaction(indexed::Employee::partition("Sales"), async |unit| {
                unit.insert(&indexed::employee(2, "ada")).map(drop)
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
        let control = Control::default();
        let store = control.over(shared(engine.clone()));
        let old = store.entities::<indexed::Employee>().with_runtime(time.runtime());
        let old = block_on(old.create_if_missing()).unwrap();
        block_on(old.insert(&indexed::employee(1, "joan"))).unwrap();
        // An index row without its entity makes the first attempt fail.
        let staff = engine.untyped("Staff").unwrap();
        let orphan = TableEntity::new("Sales", "email_ada").unwrap().with("Id", 9);
        block_on(staff.insert(&orphan)).unwrap();
        let (calls, control) = (control.calls(), control.stepped());
        let mut written: Process<Result<()>> = Box::pin(write(old, verb));
        while control.calls() == calls {
            assert!(control.step(&mut written).is_none());
        }
        block_on(async {
            let new = engine.entities::<twice::Employee>().with_runtime(time.runtime());
            let new = new.create_if_missing().await.unwrap();
            new.backfill::<twice::EmployeeByMail>().assume_no_older_programs().run().await.unwrap();
        });
        time.pass(LEASE * 2);
        let outcome = loop {
            if let Some(outcome) = control.step(&mut written) {
                break outcome;
            }
        };
        assert_eq!(outcome.unwrap_err().code(), ErrorCode::SchemaMismatch, "verb {verb}");
    }
}
